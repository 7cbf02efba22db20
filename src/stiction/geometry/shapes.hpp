#pragma once

#include <vector>

#include "stiction/geometry/tet_mesh.hpp"

/// Meshes of shapes, and the pressure fields that follow from them.
///
/// The functions share these conventions. A shape is centered at the origin of its frame; cylinders
/// and capsules have their axis along z. Sizes and resolution hints must be finite and above 0,
/// otherwise the functions throw an Error of kInvalidValue. A resolution hint [m] is the
/// approximate length of an edge on the curved surface. The finest mesh has about 10^6 tets;
/// smaller hints give the same mesh. Vertices of curved surfaces lie on the exact surface, so
/// meshes are inscribed and converge with second order. Source: Drake 1.51, whose hydroelastic
/// meshes are the same, including the diagonals.
namespace stiction::geometry {

/// A tet mesh with an extent per vertex: the distance to the boundary divided by the greatest such
/// distance. It is 0 at vertices of the boundary, 1 on the medial axis, and linear within each tet.
struct MeshedShape {
  TetMesh mesh;
  std::vector<double> extent;  // in [0, 1], one per vertex
};

/// Makes the pressure field p = E e of a shape with extent e.
/// @param hydroelastic_modulus E, finite and > 0 [Pa]: the pressure at the deepest points. It
///   differs from Young's modulus.
PressureField make_pressure_field(MeshedShape shape, double hydroelastic_modulus);

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

/// Meshes a capsule with n = floor(2 pi radius / hint) sides, n in [3, 706], and with floor(n / 2)
/// circles of vertices in each cap.
/// @param length length of the cylinder between the half spheres [m]
MeshedShape make_capsule_mesh(double radius, double length, double resolution_hint);
/// Meshes the surface of a capsule: the boundary of make_capsule_mesh.
TriangleMesh make_capsule_surface(double radius, double length, double resolution_hint);

/// Meshes a prism with n = ceil(2 pi radius / hint) sides, n in [3, 10^5], about its medial axis.
/// It has 5 n tets if length > 2 radius, 9 n if length < 2 radius, and 4 n if both are equal.
MeshedShape make_cylinder_mesh(double radius, double length, double resolution_hint);
/// Meshes the surface of a cylinder: the boundary of make_cylinder_mesh.
TriangleMesh make_cylinder_surface(double radius, double length, double resolution_hint);

/// Meshes a box between its faces and its medial axis. The medial axis is a point, a segment or a
/// rectangle, which gives 24, 40 or 44 tets. Half sizes that differ by less than a billionth count
/// as equal.
/// @param half_size half sizes along x, y and z [m]
MeshedShape make_box_mesh(const Vec3& half_size);
/// Meshes the surface of a box: four triangles about the center of each face.
TriangleMesh make_box_surface(const Vec3& half_size);

/// Meshes a convex solid: one tet from the centroid of its volume to each triangle of the hull.
/// @param hull a closed surface whose triangles all face away from the centroid; otherwise the
///   function throws an Error of kInvalidValue. Hulls of points in a plane may have slivers, which
///   are triangles with three vertices on a line. These are flipped. A hull with many slivers per
///   line that is rotated and rounded to floats may keep some and is then refused.
MeshedShape make_convex_mesh(const TriangleMesh& hull);
/// Returns the hull without slivers. The requirements are those of make_convex_mesh.
TriangleMesh make_convex_surface(const TriangleMesh& hull);

}  // namespace stiction::geometry
