#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace stiction::support {

struct RandomSceneOptions {
  int num_bodies = 12;
  double spacing = 0.15;    // of their centers, before jitter; sizes are 0.06 to 0.1 [m]
  double time_step = 2e-3;  // [s]
  double gravity = 9.81;    // [m/s^2]
  bool has_floor = true;
  bool isotropic = false;   // spheres and cubes only: inertia that no rotation changes
  double mass_ratio = 1;    // masses are spread evenly by their logarithm over [1, ratio] kg
  double max_friction = 1;  // coefficients are uniform in [0, max]
  int num_hinged = 0;       // bodies, the first ones, that carry another on a limited hinge
  /// Rotation of the whole scene, gravity and floor included, as a unit quaternion.
  std::array<double, 4> rotation{1, 0, 0, 0};
  /// The order in which bodies stand in the file; empty: 0, 1, ...
  std::vector<int> order;
};

/// A cluster of bodies named b0, b1, ... in which neighbours overlap at the default spacing, with
/// random shapes, sizes, poses and friction. The same seed gives the same bodies, whatever the
/// options' rotation and order.
/// @return MJCF
std::string make_random_scene(std::uint64_t seed, const RandomSceneOptions& options);

/// Elements of a doll for a scene's <worldbody> and <actuator>.
struct Doll {
  std::string body, actuators;
};
/// A doll of 24 dofs with jointed limbs, limits, dry friction and servos, at (x, y, z) [m].
/// @param name prefix of its joints' names
Doll make_doll(const std::string& name, double x, double y, double z);

}  // namespace stiction::support
