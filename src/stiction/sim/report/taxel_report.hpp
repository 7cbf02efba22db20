#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stiction/math/vec3.hpp"

namespace stiction::sim {

/// What the taxels of all sensors read in a step: arrays with one entry (or row) per taxel. Forces
/// act on the body of the sensor and are means over the step.
///
/// The taxels of sensor i are [start[i], start[i + 1]).
struct TaxelReport {
  std::vector<std::string> names;  // one per sensor
  std::vector<int> shape;          // 2 per sensor: taxels along both axes; for a mesh: taxels, 1
  std::vector<int> start{0};       // size() + 1

  std::vector<math::RigidTransform> pose;  // X_WS of each sensor
  std::vector<math::Vec3> local_position;  // in the frame of the sensor [m]
  std::vector<double> area;                // [m^2]
  /// 3 [Pa]: the pressure, > 0 if pressed, and the two shears, in the frame of the taxel.
  std::vector<double> traction;
  std::vector<double> force;   // 3, world [N]
  std::vector<double> torque;  // 3, about the taxel's position, world [N m]
  std::vector<int> pressed;    // the taxels with a force; the entries of all others are 0
  /// Identifies the sensors whose names, shapes and areas the report has; 0: it has none.
  std::uint64_t layout_id = 0;

  /// Returns the position of a taxel of sensor i in the world [m].
  math::Vec3 position(int i, int taxel) const { return pose[i] * local_position[taxel]; }
  int size() const { return static_cast<int>(names.size()); }
  int num_taxels() const { return static_cast<int>(area.size()); }
};

}  // namespace stiction::sim
