#include "stiction/geometry/capsule_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "stiction/geometry/shape_pieces.hpp"
#include "stiction/geometry/tet_mesh.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::geometry {
namespace {

constexpr double kMaxCapsuleSides = 706;  // 10^6 tets

/// The vertices of one end: the medial point, the pole, and rings from the cylinder's rim to the
/// pole.
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

}  // namespace

MeshedShape make_capsule_mesh(double radius, double length, double resolution_hint) {
  check_positive("radius of a capsule", radius);
  check_positive("length of a capsule", length);
  check_positive("resolution_hint of a capsule", resolution_hint);
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

}  // namespace stiction::geometry
