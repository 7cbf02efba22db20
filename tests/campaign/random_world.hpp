#pragma once

#include <cstdint>
#include <string>

#include "campaign/view.hpp"
#include "stiction/plant/materials/materials.hpp"

namespace stiction::campaign {

/// Parts of a world that restrict the laws which hold for it.
struct WorldTraits {
  bool has_height_field = false;  // its triangles are not symmetric in a mirror
  bool has_pressure_fields = false;
  bool has_spatial_tendon = false;
  bool has_wrap = false;      // a tendon about a sphere, for which MuJoCo chooses a side
  bool has_equality = false;  // connect or weld
  bool has_adhesion = false;
  bool is_near_rigid = false;  // all surfaces have the default material
  bool is_passive = false;     // no actuator, tendon, equality, limit, spring, damper or dry
                               // friction; forces are weight and applied forces
  bool is_calm = false;        // boxes and polyhedra that land on a level floor with friction
};

/// A random world of a few bodies, in a view. Worlds of one seed differ only by their view.
struct World {
  std::string xml;
  WorldTraits traits;
  std::uint64_t seed = 0;
};

/// Makes a world with bodies of all shapes and joints, equalities, limits, tendons and actuators.
/// Lengths are about 0.1 m and masses 0.1 to 10 kg.
World make_world(std::uint64_t seed, const View& view);

/// Returns the materials of the geoms, by their names and the seed: near-rigid, soft, or with
/// pressure fields.
plant::MaterialTable make_materials(const World& world, const support::Scene& scene);

/// Sets random velocities, controls and applied forces of the plain view.
void randomize_state(const World& world, support::Scene* scene);

}  // namespace stiction::campaign
