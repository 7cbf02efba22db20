#pragma once

#include <vector>

#include "stiction/geometry/meshes.hpp"

/// Meshes of shapes. Each is centred at the origin of its frame; cylinders and capsules stand along
/// z. The extent is 0 at vertices of the boundary and 1 on the medial axis, linear between, so that
/// a tet mesh of few elements carries the distance to the boundary over the greatest distance.
///
/// A resolution hint [m] is about the length of an edge of the curved surface, and finite and above
/// 0, as sizes are: anything else is an Error of kInvalidValue. Below the hint of the finest mesh
/// made, near 10^6 tets, the finest one is returned. Vertices of curved surfaces lie on the
/// surface, so that meshes are inscribed, and converge in second order. Source: the rules of
/// Drake 1.51's hydroelastic meshes, down to diagonals.
namespace stiction::geometry {

struct MeshedShape {
  TetMesh mesh;
  std::vector<double> extent;  // of each vertex, in [0, 1]
};

/// The pressure of a shape, p = E e.
/// @param hydroelastic_modulus E, finite and > 0 [Pa]: the pressure at the deepest points. It is
/// not
///   Young's modulus.
PressureField make_pressure_field(MeshedShape shape, double hydroelastic_modulus);

/// An octahedron whose triangles are split in four, level times, about the centre as the one
/// interior vertex: 8 4^level tets; level <= 8.
MeshedShape make_sphere_mesh(double radius, double resolution_hint);
TriangleMesh make_sphere_surface(double radius, double resolution_hint);

/// The sphere's mesh, scaled; the hint is for the longest semi-axis.
/// @param semi_axes along x, y and z [m]
MeshedShape make_ellipsoid_mesh(const Vec3& semi_axes, double resolution_hint);
TriangleMesh make_ellipsoid_surface(const Vec3& semi_axes, double resolution_hint);

/// Faces and medial axis, which is a point, a segment or a rectangle: 24, 40 or 44 tets. Half sizes
/// that differ by less than a billionth are taken as equal.
/// @param half_size along x, y and z [m]
MeshedShape make_box_mesh(const Vec3& half_size);
/// Four triangles about the centre of each face.
TriangleMesh make_box_surface(const Vec3& half_size);

/// A prism of n sides about its medial axis, n = ceil(2 pi radius / hint) in [3, 10^5]: 5 n tets if
/// it is long (length > 2 radius), 9 n if it is short, and 4 n between.
MeshedShape make_cylinder_mesh(double radius, double length, double resolution_hint);
TriangleMesh make_cylinder_surface(double radius, double length, double resolution_hint);

/// @param length of the cylinder between the half spheres [m]
/// n = floor(2 pi radius / hint) in [3, 706] sides, floor(n / 2) circles of vertices in each cap.
MeshedShape make_capsule_mesh(double radius, double length, double resolution_hint);
TriangleMesh make_capsule_surface(double radius, double length, double resolution_hint);

/// A tet from the centroid of the volume to each triangle of the hull.
/// @param hull closed, and seen by its centroid from inside: an Error (kInvalidValue) otherwise.
///   Slivers of vertices on a line, as hulls of points in a plane have, are flipped; a hull of many
///   such points on each line, turned and rounded to floats, may keep some, and is refused.
MeshedShape make_convex_mesh(const TriangleMesh& hull);
TriangleMesh make_convex_surface(const TriangleMesh& hull);

}  // namespace stiction::geometry
