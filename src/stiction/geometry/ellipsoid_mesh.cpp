#include "stiction/geometry/ellipsoid_mesh.hpp"

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

/// Returns how often to halve the edges of the octahedron, so that none is much longer than the
/// hint on the unit sphere. An edge of level L spans an angle of pi / 2^(L + 1).
int choose_level(double resolution_hint) {
  const double sine = std::min(resolution_hint / 2, 1.0);
  const double edge_angle = 2 * math::atan2(sine, std::sqrt((1 - sine) * (1 + sine)));
  int level = 0;
  for (double edge = 0.5 * std::numbers::pi; edge > edge_angle && level < kMaxLevel; edge *= 0.5)
    ++level;
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

TriangleMesh make_surface(const Vec3& semi_axes, double resolution_hint) {
  TriangleMesh surface = make_octahedron();
  const double longest = std::max({semi_axes.x, semi_axes.y, semi_axes.z});
  for (int i = choose_level(resolution_hint / longest); i > 0; --i) split_triangles(&surface);
  for (Vec3& v : surface.vertices) v = {v.x * semi_axes.x, v.y * semi_axes.y, v.z * semi_axes.z};
  return surface;
}

/// Joins the center to each triangle of the surface.
MeshedShape make_mesh(const TriangleMesh& surface) {
  MeshedShape shape{{surface.vertices, {}}, std::vector<double>(surface.vertices.size(), 0.0)};
  const int center = add_vertex({0, 0, 0}, 1, shape);
  shape.mesh.tets.reserve(surface.triangles.size());
  for (const auto& [a, b, c] : surface.triangles) add_cone(center, a, b, c, shape);
  return shape;
}

}  // namespace

TriangleMesh make_sphere_surface(double radius, double resolution_hint) {
  check_positive("radius of a sphere", radius);
  check_positive("resolution_hint of a sphere", resolution_hint);
  return make_surface({radius, radius, radius}, resolution_hint);
}

MeshedShape make_sphere_mesh(double radius, double resolution_hint) {
  return make_mesh(make_sphere_surface(radius, resolution_hint));
}

TriangleMesh make_ellipsoid_surface(const Vec3& semi_axes, double resolution_hint) {
  for (int i = 0; i < 3; ++i) check_positive("semi_axes of an ellipsoid", semi_axes[i]);
  check_positive("resolution_hint of an ellipsoid", resolution_hint);
  return make_surface(semi_axes, resolution_hint);
}

MeshedShape make_ellipsoid_mesh(const Vec3& semi_axes, double resolution_hint) {
  return make_mesh(make_ellipsoid_surface(semi_axes, resolution_hint));
}

}  // namespace stiction::geometry
