#pragma once

#include "stiction/geometry/meshed_shape.hpp"

namespace stiction::geometry {

/// Meshes a sphere: an octahedron whose triangles are split into four, level <= 8 times. The centre
/// is the only interior vertex, so the mesh has 8 4^level tets.
MeshedShape make_sphere_mesh(double radius, double resolution_hint);
TriangleMesh make_sphere_surface(double radius, double resolution_hint);

/// Meshes an ellipsoid by scaling the mesh of a sphere. The hint is for the longest semi-axis.
/// @param semi_axes along x, y and z [m]
MeshedShape make_ellipsoid_mesh(const Vec3& semi_axes, double resolution_hint);
TriangleMesh make_ellipsoid_surface(const Vec3& semi_axes, double resolution_hint);

}  // namespace stiction::geometry
