#pragma once

#include <string>

#include <mujoco/mujoco.h>

#include "stiction/geometry/shapes.hpp"

namespace stiction::plant {

/// The functions that make meshes of a primitive geom for pressure-field contact. `size` is
/// MuJoCo's geom_size: radii and half lengths [m].
struct PrimitiveMesh {
  mjtGeom type;
  const char* plural;  // the name in messages
  geometry::MeshedShape (*make_mesh)(const mjtNum* size, double resolution_hint);
  geometry::TriangleMesh (*make_surface)(const mjtNum* size, double resolution_hint);
  /// Returns the largest distance of an inner point to the boundary [m].
  double (*find_depth)(const mjtNum* size);
  /// Returns the radius of the curved surface, for the default resolution hint [m].
  double (*find_radius)(const mjtNum* size);
};

/// Returns the functions of a geom type. Returns null for planes, which are half spaces, and for
/// meshes, which come from the model.
const PrimitiveMesh* find_primitive_mesh(int geom_type);

/// Lists the primitive geoms for messages: "spheres, ellipsoids, ...".
std::string list_primitives();

}  // namespace stiction::plant
