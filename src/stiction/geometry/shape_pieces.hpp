#pragma once

#include <array>

#include "stiction/geometry/shapes.hpp"

/// What meshes of shapes are put together from. Vertices are given by their indices.
namespace stiction::geometry {

/// Error (kInvalidValue) unless the value is finite and above 0.
/// @param name of the value, as "resolution_hint of a capsule"
void check_positive(const char* name, double value);

int add_vertex(const Vec3& position, double extent, MeshedShape& shape);

/// The first of n vertices about z, of extent 0 or 1; the first one in the x-z plane, x > 0.
int add_ring(double radius, double z, int n, double extent, MeshedShape& shape);

/// The tet from an apex to a triangle that turns counter-clockwise seen from the other side.
void add_cone(int apex, int a, int b, int c, MeshedShape& shape);

/// A prism cut into three tets. Seen from the top both triangles turn counter-clockwise; the
/// diagonals of its sides are bottom[0] top[1], bottom[0] top[2] and bottom[1] top[2].
void add_prism(const std::array<int, 3>& bottom, const std::array<int, 3>& top, MeshedShape& shape);

/// A pyramid cut in two tets along upper[0] lower[1]. Seen from outside of its base, lower[0],
/// lower[1], upper[1], upper[0] turn counter-clockwise.
void add_pyramid(int apex, const std::array<int, 2>& lower, const std::array<int, 2>& upper,
                 MeshedShape& shape);

}  // namespace stiction::geometry
