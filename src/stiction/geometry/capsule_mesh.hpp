#pragma once

#include "stiction/geometry/meshed_shape.hpp"

namespace stiction::geometry {

/// Meshes a capsule with n = floor(2 pi radius / hint) sides, n in [3, 706], and with floor(n / 2)
/// circles of vertices in each cap.
/// @param length length of the cylinder between the half spheres [m]
MeshedShape make_capsule_mesh(double radius, double length, double resolution_hint);

/// Meshes the surface of a capsule: the boundary of make_capsule_mesh.
TriangleMesh make_capsule_surface(double radius, double length, double resolution_hint);

}  // namespace stiction::geometry
