#pragma once

#include <array>

#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry {

/// Returns the least height of a triangle divided by its longest edge: sqrt(3) / 2 for an
/// equilateral triangle, 0 for a triangle without area.
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
