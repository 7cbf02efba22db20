#pragma once

#include <string>

#include <mujoco/mujoco.h>

#include "stiction/geometry/shapes.hpp"

namespace stiction::plant {

/// How a primitive geom gets a mesh for pressure-field contact. `size` is MuJoCo's geom_size: radii
/// and half lengths [m].
struct PrimitiveMesh {
  mjtGeom type;
  const char* plural;  // in messages
  geometry::MeshedShape (*make_mesh)(const mjtNum* size, double resolution_hint);
  geometry::TriangleMesh (*make_surface)(const mjtNum* size, double resolution_hint);
  double (*find_depth)(const mjtNum* size);   // largest distance of an inner point to the boundary
  double (*find_radius)(const mjtNum* size);  // of the curved surface, for the default hint
};

/// The row of a geom type, or null: planes are half spaces, and meshes come from the model.
const PrimitiveMesh* find_primitive_mesh(int geom_type);

/// "spheres, ellipsoids, ...".
std::string list_primitives();

}  // namespace stiction::plant
