#pragma once

#include "stiction/geometry/meshed_shape.hpp"

namespace stiction::geometry {

/// Meshes a prism with n = ceil(2 pi radius / hint) sides, n in [3, 10^5], about its medial axis.
/// It has 5 n tets if length > 2 radius, 9 n if length < 2 radius, and 4 n if both are equal.
MeshedShape make_cylinder_mesh(double radius, double length, double resolution_hint);

/// Meshes the surface of a cylinder: the boundary of make_cylinder_mesh.
TriangleMesh make_cylinder_surface(double radius, double length, double resolution_hint);

}  // namespace stiction::geometry
