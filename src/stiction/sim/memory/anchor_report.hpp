#pragma once

#include <array>
#include <vector>

#include "stiction/math/vec3.hpp"

namespace stiction::sim {

struct AnchorStep;

/// The tangential spring of a contact at the end of a step, under the friction law `elastic`.
struct AnchorReport {
  std::array<int, 2> geoms{};           // ids
  std::array<int, 2> elements{-1, -1};  // that meet in a face of a patch; -1 for a contact point
  math::Vec3 position{};                // at the start of the step, world [m]
  math::Vec3 normal{};                  // from the first into the second geom
  math::Vec3 stretch{};                 // of the second geom relative to the first [m]
  math::Vec3 twist{};                   // torsion about the normal and rolling [rad]
  math::Vec3 force{};                   // of the spring on the second geom [N]
  /// k_t [N/m]. Where torsional or rolling friction is larger than sliding friction, or friction
  /// depends on the direction, a spring along the surface has (mu / mu_max)^2 of it.
  double stiffness = 0;
  bool slips = false;  // true if the contact slid in the step
};

/// Returns the anchors of a step, sorted by their geoms.
std::vector<AnchorReport> list_anchors(const AnchorStep& step);

}  // namespace stiction::sim
