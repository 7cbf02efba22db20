#pragma once

#include "stiction/geometry/meshed_shape.hpp"

namespace stiction::geometry {

/// Meshes a sphere. The surface starts as an octahedron. Its triangles are split into four, level
/// times, with a level <= 8. The center is the only interior vertex, so there are 8 * 4^level tets.
MeshedShape make_sphere_mesh(double radius, double resolution_hint);
/// Meshes the surface of a sphere: the boundary of make_sphere_mesh.
TriangleMesh make_sphere_surface(double radius, double resolution_hint);

/// Meshes an ellipsoid by scaling the mesh of a sphere. The hint is for the longest semi-axis.
/// @param semi_axes semi-axes along x, y and z [m]
MeshedShape make_ellipsoid_mesh(const Vec3& semi_axes, double resolution_hint);
/// Meshes the surface of an ellipsoid: the boundary of make_ellipsoid_mesh.
TriangleMesh make_ellipsoid_surface(const Vec3& semi_axes, double resolution_hint);

}  // namespace stiction::geometry
