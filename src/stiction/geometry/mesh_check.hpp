#pragma once

#include <array>
#include <string>

#include "stiction/geometry/tet_mesh.hpp"

/// Checks of users' meshes. They run in stages: indices and numbers, then shapes of elements, then
/// neighbors. A check throws an Error of kInvalidValue with the faults of the first stage that
/// finds any: the first ten, each with its element, and the number of the others.
namespace stiction::geometry {

/// Heights per longest edge below this are round-off: normals would have half their digits.
inline constexpr double kFlatHeight = 1e-8;

/// Checks a tet mesh. The faults are: no tets; indices out of range or repeated in a tet;
/// coordinates that are not finite; vertices at the same position; flat or inverted tets; faces
/// shared by three or more tets, or by two tets on the same side; no interior vertex, where the
/// pressure could be above 0. A mesh without faults has a closed boundary whose triangles wind
/// outward. Tets may touch along an edge or at a vertex.
/// @param where the file, or the caller's name of the mesh; it starts each message
void check_tet_mesh(const TetMesh& mesh, const std::string& where);

/// Checks a closed surface. The faults are: no triangles; indices out of range or repeated in a
/// triangle; coordinates that are not finite; triangles without area; edges of a single triangle
/// (an open surface); edges whose triangles wind in opposite senses; a volume that is not above 0
/// (the triangles wind inward). A shell within a shell bounds a cavity. Vertices without a triangle
/// are allowed.
/// @param where as for check_tet_mesh
void check_triangle_mesh(const TriangleMesh& mesh, const std::string& where);

/// Does the first stage of check_triangle_mesh only: indices and numbers.
void check_triangle_indices(const TriangleMesh& mesh, const std::string& where);

/// Returns the least height of a triangle per longest edge: sqrt(3) / 2 if equilateral; 0: flat.
double calc_relative_height(const TriangleMesh& mesh, const std::array<int, 3>& triangle);

/// Removes slivers by flipping their longest edges. Slivers are triangles with three vertices on a
/// line, whose normals are round-off. Hulls of points in a plane have them. An edge is flipped if
/// that improves the worse of its two triangles. The function ends when no flip improves any
/// sliver. Vertices do not move, and the surface moves by less than the heights of the slivers.
/// @param surface in, out: a mesh with valid indices. Edges without exactly two triangles are not
///   flipped.
/// @param relative_height limit < 0.1; triangles of smaller relative height are slivers
void flip_slivers(double relative_height, TriangleMesh* surface);

/// Reverses the shells of a surface that wind inward. Such a shell has a negative volume. Shells
/// are parts without a common vertex. A shell whose bounding box lies within that of another shell
/// counts as a cavity and is not reversed.
/// @param mesh in, out: a mesh with valid indices
void orient_shells(TriangleMesh* mesh);

}  // namespace stiction::geometry
