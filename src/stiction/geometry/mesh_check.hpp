#pragma once

#include <string>

#include "stiction/geometry/tet_mesh.hpp"

/// Checks of users' meshes. They run in stages: indices and numbers, then shapes of elements, then
/// neighbors. A check throws an Error of kInvalidValue with the faults of the first stage that
/// finds any: the first ten, each with its element, and the number of the others.
namespace stiction::geometry {

/// Heights below this fraction of the longest edge are round-off. Gradients and normals of such an
/// element would have half their digits or fewer.
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

}  // namespace stiction::geometry
