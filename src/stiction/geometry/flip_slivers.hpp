#pragma once

#include <array>

#include "stiction/geometry/meshes.hpp"

namespace stiction::geometry {

/// The least height of a triangle over its longest edge: sqrt(3) / 2 if it is equilateral, 0
/// without area.
double calc_relative_height(const TriangleMesh& mesh, const std::array<int, 3>& triangle);

/// Hulls of points that lie in a plane have triangles of three vertices on a line, with normals of
/// round-off. Flips their longest edges, where that makes the worse of both triangles better, until
/// none below the relative height is left that a flip betters. Vertices stay, and the surface moves
/// by less than the heights of what was flipped.
/// @param surface with valid indices; edges that are not those of two triangles are left alone
/// @param relative_height a triangle below is a sliver; < 0.1
void flip_slivers(double relative_height, TriangleMesh* surface);

}  // namespace stiction::geometry
