#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stiction/geometry/shape_pieces.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::geometry {
namespace {

constexpr int kMaxLevel = 8;  // 524288 triangles

/// Throws an Error of kInvalidValue unless the finest mesh of a shape has edges as short as the
/// hint.
/// @param name     of the hint, such as "resolution_hint of a sphere"
/// @param shortest edges of the finest mesh [m]
void check_resolution(const char* name, double resolution_hint, double shortest) {
  constexpr double kPrinted = 1e-3;  // of a length that the message has printed
  if (resolution_hint >= (1 - kPrinted) * shortest) return;
  throw Error(ErrorCode::kInvalidValue, name,
              "is " + base::to_text(resolution_hint, 4) +
                  " m, but the finest mesh of this shape has edges of " +
                  base::to_text(shortest, 4) + " m; give at least this length");
}

/// Returns how often to halve the octahedron's edges for a hint on a sphere.
/// @throws Error if the finest mesh is coarser
int choose_level(const char* name, double radius, double resolution_hint) {
  const double sine = std::min(resolution_hint / radius / 2, 1.0);
  const double edge_angle = 2 * math::atan2(sine, std::sqrt((1 - sine) * (1 + sine)));
  int level = 0;
  double edge = 0.5 * std::numbers::pi;
  for (; edge > edge_angle && level < kMaxLevel; edge *= 0.5) ++level;
  if (edge > edge_angle) check_resolution(name, resolution_hint, 2 * radius * math::sin(edge / 2));
  return level;
}

TriangleMesh make_octahedron() {
  return {{{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}},
          {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {1, 0, 5}, {2, 1, 5}, {3, 2, 5}, {0, 3, 5}}};
}

/// Splits each triangle into four at the midpoints of its edges, projected to the unit sphere.
void split_triangles(TriangleMesh* sphere) {
  std::unordered_map<long long, int> middles;
  const auto find_middle = [&](int a, int b) {
    const auto [low, high] = std::minmax(a, b);
    const auto [at, is_new] = middles.try_emplace((static_cast<long long>(low) << 32) + high,
                                                  static_cast<int>(sphere->vertices.size()));
    if (is_new) {
      const Vec3 sum = sphere->vertices[a] + sphere->vertices[b];
      sphere->vertices.push_back(sum * (1 / norm(sum)));
    }
    return at->second;
  };
  std::vector<std::array<int, 3>> triangles;
  triangles.reserve(4 * sphere->triangles.size());
  for (const auto& [a, b, c] : sphere->triangles) {
    const int ab = find_middle(a, b), bc = find_middle(b, c), ca = find_middle(c, a);
    triangles.insert(triangles.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
  }
  sphere->triangles = std::move(triangles);
}

/// @param name of the hint, such as "resolution_hint of a sphere"
TriangleMesh make_surface(const char* name, const Vec3& semi_axes, double resolution_hint) {
  TriangleMesh surface = make_octahedron();
  const double longest = std::max({semi_axes.x, semi_axes.y, semi_axes.z});
  for (int i = choose_level(name, longest, resolution_hint); i > 0; --i) split_triangles(&surface);
  for (Vec3& v : surface.vertices) v = {v.x * semi_axes.x, v.y * semi_axes.y, v.z * semi_axes.z};
  return surface;
}

constexpr double kMaxCapsuleSides = 706;  // 10^6 tets

/// The vertices of one end: the medial point, the pole, and rings from the rim to the pole.
struct Cap {
  int center, pole;
  std::vector<int> rings;  // first vertex of each ring
};

/// Adds the vertices of one end.
/// @param up 1 for the upper cap, -1 for the lower one
Cap add_cap(double radius, double half_length, double up, int n, MeshedShape& shape) {
  Cap cap{add_vertex({0, 0, up * half_length}, 1, shape),
          add_vertex({0, 0, up * (half_length + radius)}, 0, shape),
          {}};
  const int num_rings = n / 2;
  for (int i = 0; i < num_rings; ++i) {
    const double latitude = std::numbers::pi / 2 * i / num_rings;
    cap.rings.push_back(add_ring(radius * math::cos(latitude),
                                 up * (half_length + radius * math::sin(latitude)), n, 0, shape));
  }
  return cap;
}

constexpr double kMaxCylinderSides = 1e5;

/// The vertices of the boundary: the centers of both ends, and rings of n vertices about them.
struct Ends {
  int n;
  int bottom, top;            // centers
  int bottom_ring, top_ring;  // first vertex of each ring

  /// Calls f(i, j, b0, b1, t0, t1) for each side: the places in a ring, and vertices, of its edges.
  template <class F>
  void for_each_side(F&& f) const {
    for (int i = 0; i < n; ++i) {
      const int j = (i + 1) % n;
      f(i, j, bottom_ring + i, bottom_ring + j, top_ring + i, top_ring + j);
    }
  }
};

Ends add_ends(double radius, double half_length, int n, MeshedShape& shape) {
  const int bottom = add_vertex({0, 0, -half_length}, 0, shape);
  const int top = add_vertex({0, 0, half_length}, 0, shape);
  const int bottom_ring = add_ring(radius, -half_length, n, 0, shape);
  const int top_ring = add_ring(radius, half_length, n, 0, shape);
  return {.n = n, .bottom = bottom, .top = top, .bottom_ring = bottom_ring, .top_ring = top_ring};
}

/// Fills a long cylinder: cones at the ends of its medial segment, and prisms around it.
void fill_long(const Ends& ends, double medial_half_length, MeshedShape& shape) {
  const int m_bottom = add_vertex({0, 0, -medial_half_length}, 1, shape);
  const int m_top = add_vertex({0, 0, medial_half_length}, 1, shape);
  ends.for_each_side([&](int, int, int b0, int b1, int t0, int t1) {
    add_cone(m_bottom, ends.bottom, b1, b0, shape);
    add_cone(m_top, ends.top, t0, t1, shape);
    add_prism({m_bottom, b0, b1}, {m_top, t0, t1}, shape);
  });
}

/// Fills a cylinder as long as it is wide, whose medial axis is reduced to a point.
void fill_medium(const Ends& ends, MeshedShape& shape) {
  const int middle = add_vertex({0, 0, 0}, 1, shape);
  ends.for_each_side([&](int, int, int b0, int b1, int t0, int t1) {
    add_cone(middle, ends.bottom, b1, b0, shape);
    add_cone(middle, ends.top, t0, t1, shape);
    add_pyramid(middle, {b0, b1}, {t0, t1}, shape);
  });
}

/// Fills a short cylinder: prisms lie below, above and around the disk in its medial axis.
void fill_short(const Ends& ends, double medial_radius, MeshedShape& shape) {
  const int middle = add_vertex({0, 0, 0}, 1, shape);
  const int ring = add_ring(medial_radius, 0, ends.n, 1, shape);
  ends.for_each_side([&](int i, int j, int b0, int b1, int t0, int t1) {
    const int m0 = ring + i, m1 = ring + j;
    add_prism({ends.bottom, b0, b1}, {middle, m0, m1}, shape);
    add_prism({middle, m0, m1}, {ends.top, t0, t1}, shape);
    add_prism({b0, m0, t0}, {b1, m1, t1}, shape);
  });
}

}  // namespace

TriangleMesh make_sphere_surface(double radius, double resolution_hint) {
  check_positive("radius of a sphere", radius);
  const char* const name = "resolution_hint of a sphere";
  check_positive(name, resolution_hint);
  return make_surface(name, {radius, radius, radius}, resolution_hint);
}

MeshedShape make_sphere_mesh(double radius, double resolution_hint) {
  return join_to_surface({0, 0, 0}, make_sphere_surface(radius, resolution_hint));
}

TriangleMesh make_ellipsoid_surface(const Vec3& semi_axes, double resolution_hint) {
  for (int i = 0; i < 3; ++i) check_positive("semi_axes of an ellipsoid", semi_axes[i]);
  const char* const name = "resolution_hint of an ellipsoid";
  check_positive(name, resolution_hint);
  return make_surface(name, semi_axes, resolution_hint);
}

MeshedShape make_ellipsoid_mesh(const Vec3& semi_axes, double resolution_hint) {
  return join_to_surface({0, 0, 0}, make_ellipsoid_surface(semi_axes, resolution_hint));
}

MeshedShape make_capsule_mesh(double radius, double length, double resolution_hint) {
  check_positive("radius of a capsule", radius);
  check_positive("length of a capsule", length);
  const char* const name = "resolution_hint of a capsule";
  check_positive(name, resolution_hint);
  check_resolution(name, resolution_hint, 2 * std::numbers::pi * radius / kMaxCapsuleSides);
  const double sides = std::floor(2 * std::numbers::pi * radius / resolution_hint);
  const int n = static_cast<int>(std::clamp(sides, 3.0, kMaxCapsuleSides));
  MeshedShape shape;
  const Cap bottom = add_cap(radius, length / 2, -1, n, shape);
  const Cap top = add_cap(radius, length / 2, 1, n, shape);
  const int num_rings = static_cast<int>(top.rings.size());
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    add_prism({bottom.center, bottom.rings[0] + i, bottom.rings[0] + j},
              {top.center, top.rings[0] + i, top.rings[0] + j}, shape);
    for (int k = 0; k + 1 < num_rings; ++k) {
      const int outer_b = bottom.rings[k], inner_b = bottom.rings[k + 1];
      const int outer_t = top.rings[k], inner_t = top.rings[k + 1];
      add_pyramid(bottom.center, {inner_b + i, inner_b + j}, {outer_b + i, outer_b + j}, shape);
      add_pyramid(top.center, {outer_t + i, outer_t + j}, {inner_t + i, inner_t + j}, shape);
    }
    add_cone(bottom.center, bottom.pole, bottom.rings.back() + j, bottom.rings.back() + i, shape);
    add_cone(top.center, top.pole, top.rings.back() + i, top.rings.back() + j, shape);
  }
  return shape;
}

TriangleMesh make_capsule_surface(double radius, double length, double resolution_hint) {
  return make_boundary(make_capsule_mesh(radius, length, resolution_hint).mesh);
}

MeshedShape make_cylinder_mesh(double radius, double length, double resolution_hint) {
  check_positive("radius of a cylinder", radius);
  check_positive("length of a cylinder", length);
  const char* const name = "resolution_hint of a cylinder";
  check_positive(name, resolution_hint);
  check_resolution(name, resolution_hint, 2 * std::numbers::pi * radius / kMaxCylinderSides);
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
