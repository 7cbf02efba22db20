#include "stiction/geometry/cylinder_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/geometry/shape_pieces.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry {
namespace {

constexpr double kMaxCylinderSides = 1e5;

/// The vertices of the boundary: the centers of both ends, and rings of n vertices about them.
struct Ends {
  int n;
  int bottom, top;            // centers
  int bottom_ring, top_ring;  // first vertex of each ring
};

Ends add_ends(double radius, double half_length, int n, MeshedShape& shape) {
  const int bottom = add_vertex({0, 0, -half_length}, 0, shape);
  const int top = add_vertex({0, 0, half_length}, 0, shape);
  const int bottom_ring = add_ring(radius, -half_length, n, 0, shape);
  const int top_ring = add_ring(radius, half_length, n, 0, shape);
  return {.n = n, .bottom = bottom, .top = top, .bottom_ring = bottom_ring, .top_ring = top_ring};
}

/// Fills a long cylinder, whose medial axis contains a segment. Cones join the ends of the segment
/// to the ends of the cylinder, and prisms surround the segment.
void fill_long(const Ends& ends, double medial_half_length, MeshedShape& shape) {
  const int m_bottom = add_vertex({0, 0, -medial_half_length}, 1, shape);
  const int m_top = add_vertex({0, 0, medial_half_length}, 1, shape);
  for (int i = 0; i < ends.n; ++i) {
    const int j = (i + 1) % ends.n;
    const int b0 = ends.bottom_ring + i, b1 = ends.bottom_ring + j;
    const int t0 = ends.top_ring + i, t1 = ends.top_ring + j;
    add_cone(m_bottom, ends.bottom, b1, b0, shape);
    add_cone(m_top, ends.top, t0, t1, shape);
    add_prism({m_bottom, b0, b1}, {m_top, t0, t1}, shape);
  }
}

/// Fills a cylinder as long as it is wide, whose medial axis is reduced to a point.
void fill_medium(const Ends& ends, MeshedShape& shape) {
  const int middle = add_vertex({0, 0, 0}, 1, shape);
  for (int i = 0; i < ends.n; ++i) {
    const int j = (i + 1) % ends.n;
    const int b0 = ends.bottom_ring + i, b1 = ends.bottom_ring + j;
    const int t0 = ends.top_ring + i, t1 = ends.top_ring + j;
    add_cone(middle, ends.bottom, b1, b0, shape);
    add_cone(middle, ends.top, t0, t1, shape);
    add_pyramid(middle, {b0, b1}, {t0, t1}, shape);
  }
}

/// Fills a short cylinder, whose medial axis contains a disk. Prisms lie below, above and around
/// the disk.
void fill_short(const Ends& ends, double medial_radius, MeshedShape& shape) {
  const int middle = add_vertex({0, 0, 0}, 1, shape);
  const int ring = add_ring(medial_radius, 0, ends.n, 1, shape);
  for (int i = 0; i < ends.n; ++i) {
    const int j = (i + 1) % ends.n;
    const int b0 = ends.bottom_ring + i, b1 = ends.bottom_ring + j;
    const int t0 = ends.top_ring + i, t1 = ends.top_ring + j;
    const int m0 = ring + i, m1 = ring + j;
    add_prism({ends.bottom, b0, b1}, {middle, m0, m1}, shape);
    add_prism({middle, m0, m1}, {ends.top, t0, t1}, shape);
    add_prism({b0, m0, t0}, {b1, m1, t1}, shape);
  }
}

}  // namespace

MeshedShape make_cylinder_mesh(double radius, double length, double resolution_hint) {
  check_positive("radius of a cylinder", radius);
  check_positive("length of a cylinder", length);
  check_positive("resolution_hint of a cylinder", resolution_hint);
  const double sides = std::ceil(2 * std::numbers::pi * radius / resolution_hint);
  const int n = static_cast<int>(std::clamp(sides, 3.0, kMaxCylinderSides));
  MeshedShape shape;
  const Ends ends = add_ends(radius, length / 2, n, shape);
  // A medial segment or disk smaller than round-off would give flat tets.
  constexpr double kEqual = 1e-9;
  const double excess = length / 2 - radius;
  if (excess > kEqual * radius)
    fill_long(ends, excess, shape);
  else if (excess < -kEqual * radius)
    fill_short(ends, -excess, shape);
  else
    fill_medium(ends, shape);
  return shape;
}

TriangleMesh make_cylinder_surface(double radius, double length, double resolution_hint) {
  return make_boundary(make_cylinder_mesh(radius, length, resolution_hint).mesh);
}

}  // namespace stiction::geometry
