#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace stiction::support {

/// Options of make_random_scene.
struct RandomSceneOptions {
  int num_bodies = 12;
  double spacing = 0.15;    // between centers before jitter [m]; sizes are 0.06 to 0.1 m
  double time_step = 2e-3;  // [s]
  double gravity = 9.81;    // [m/s^2]
  bool has_floor = true;
  bool isotropic = false;   // only spheres and cubes, whose inertia is the same in all directions
  double mass_ratio = 1;    // logarithms of masses are uniform, for masses in [1, mass_ratio] kg
  double max_friction = 1;  // coefficients are uniform in [0, max_friction]
  int num_hinged = 0;       // the first num_hinged bodies carry another body on a limited hinge
  /// Rotation of the whole scene, gravity and floor included, as a unit quaternion.
  std::array<double, 4> rotation{1, 0, 0, 0};
  /// The order of bodies in the file; empty: 0, 1, ...
  std::vector<int> order;
};

/// Makes a scene with a cluster of bodies b0, b1, ... of random shapes, sizes, poses and friction.
/// Neighbors overlap at the default spacing. The bodies of a seed do not depend on the rotation
/// and the order of the options.
/// @return a document in MJCF
std::string make_random_scene(std::uint64_t seed, const RandomSceneOptions& options);

/// Elements of a doll for the <worldbody> and the <actuator> of a scene.
struct Doll {
  std::string body, actuators;
};
/// Makes a doll of 24 dofs at (x, y, z) [m], with limits, dry friction and servos at its joints.
/// @param name prefix of the names of its joints
Doll make_doll(const std::string& name, double x, double y, double z);

}  // namespace stiction::support
