#pragma once

#include <array>

#include "stiction/geometry/meshed_shape.hpp"

/// The pieces of which meshes of shapes consist. Vertices are given by their indices.
namespace stiction::geometry {

/// Throws an Error of kInvalidValue unless the value is finite and above 0.
/// @param name name of the value, such as "resolution_hint of a capsule"
void check_positive(const char* name, double value);

/// Adds a vertex and returns its index.
int add_vertex(const Vec3& position, double extent, MeshedShape& shape);

/// Adds a ring of n vertices about the z axis and returns the index of the first one, which lies in
/// the x-z plane at x > 0.
int add_ring(double radius, double z, int n, double extent, MeshedShape& shape);

/// Adds the tet from an apex to a triangle that is counter-clockwise seen from the side opposite to
/// the apex.
void add_cone(int apex, int a, int b, int c, MeshedShape& shape);

/// Adds a prism as three tets. Both triangles are counter-clockwise seen from the top. The
/// diagonals of its sides are bottom[0] top[1], bottom[0] top[2] and bottom[1] top[2].
void add_prism(const std::array<int, 3>& bottom, const std::array<int, 3>& top, MeshedShape& shape);

/// Adds a pyramid as two tets, cut along upper[0] lower[1]. The base lower[0], lower[1], upper[1],
/// upper[0] is counter-clockwise seen from outside.
void add_pyramid(int apex, const std::array<int, 2>& lower, const std::array<int, 2>& upper,
                 MeshedShape& shape);

}  // namespace stiction::geometry
