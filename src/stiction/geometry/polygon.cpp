#include "stiction/geometry/polygon.hpp"

#include <algorithm>
#include <bit>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {
namespace {

using math::multiply_add;

struct Edge {
  int inside, outside;  // the corner where f > 0, and the other
};
struct SliceCase {
  int num_vertices = 0;
  std::array<Edge, 4> edge{};
};

/// The edges that a plane cuts, in the polygon's order, by the bit mask of corners with f > 0.
constexpr std::array<SliceCase, 16> make_slice_cases() {
  std::array<SliceCase, 16> cases{};
  // Even permutations, so the tetrahedron i, j, k, l has positive volume too.
  constexpr int kOne[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 0, 1, 3}, {3, 0, 2, 1}};
  for (const auto& [i, j, k, l] : kOne) {
    cases[1 << i] = {3, {{{i, j}, {i, l}, {i, k}}}};
    cases[15 - (1 << i)] = {3, {{{j, i}, {k, i}, {l, i}}}};
  }
  constexpr int kTwo[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                              {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
  for (const auto& [i, j, k, l] : kTwo)
    cases[(1 << i) + (1 << j)] = {4, {{{i, k}, {j, k}, {j, l}, {i, l}}}};
  return cases;
}
constexpr std::array<SliceCase, 16> kSliceCases = make_slice_cases();

/// Returns the point between a and b where a linear function is 0; its values are fa fb < 0.
PolygonVertex interpolate(const PolygonVertex& a, const PolygonVertex& b, double fa, double fb) {
  const Vec4 t = math::broadcast_to<Vec4>(fa / (fa - fb));
  return {multiply_add(t, b.position_pressure - a.position_pressure, a.position_pressure),
          multiply_add(t, b.distance - a.distance, a.distance)};
}

/// Clips by one plane.
void clip_by(int plane, Polygon* polygon) {
  Polygon clipped;
  const int n = polygon->num_vertices;
  const PolygonVertex* before = &polygon->vertex[n - 1];
  for (int i = 0; i < n; ++i) {
    const PolygonVertex* vertex = &polygon->vertex[i];
    const double d0 = before->distance[plane], d1 = vertex->distance[plane];
    // Without rounding a plane adds at most one corner. The limit guards against rounding.
    if ((d0 > 0) != (d1 > 0) && clipped.num_vertices < kMaxPolygonVertices)
      clipped.vertex[clipped.num_vertices++] =
          d0 > 0 ? interpolate(*before, *vertex, d0, d1) : interpolate(*vertex, *before, d1, d0);
    if (d1 <= 0 && clipped.num_vertices < kMaxPolygonVertices)
      clipped.vertex[clipped.num_vertices++] = *vertex;
    before = vertex;
  }
  polygon->num_vertices = clipped.num_vertices;
  std::copy_n(clipped.vertex.begin(), clipped.num_vertices, polygon->vertex.begin());
}

}  // namespace

bool slice_tet(const Vec4& f, const std::array<PolygonVertex, 4>& corners, Polygon* polygon) {
  const SliceCase& slice = kSliceCases[find_positive(f)];
  polygon->num_vertices = slice.num_vertices;
  for (int i = 0; i < slice.num_vertices; ++i) {
    const Edge& edge = slice.edge[i];
    polygon->vertex[i] =
        interpolate(corners[edge.inside], corners[edge.outside], f[edge.inside], f[edge.outside]);
  }
  return slice.num_vertices > 0;
}

bool clip_polygon(unsigned planes, double tolerance, Polygon* polygon) {
  STICTION_ASSERT(0 < polygon->num_vertices && polygon->num_vertices <= kMaxPolygonVertices);
  STICTION_ASSERT(planes <= kAllPlanes && tolerance >= 0);
  Vec4 least = polygon->vertex[0].distance, most = least;
  for (int i = 1; i < polygon->num_vertices; ++i) {
    const Vec4& d = polygon->vertex[i].distance;
    least = d < least ? d : least;
    most = d > most ? d : most;
  }
  const Vec4 t = math::broadcast_to<Vec4>(tolerance);
  const unsigned outside = find_positive(least), reach_out = find_positive(most - t),
                 reach_in = find_positive(-t - least);
  if (planes & (outside | (reach_out & ~reach_in))) return false;
  for (unsigned left = planes & reach_out; left; left &= left - 1) {
    clip_by(std::countr_zero(left), polygon);
    if (polygon->num_vertices < 3) return false;
  }
  return true;
}

bool merge_vertices(double tolerance, Polygon* polygon) {
  const auto are_near = [tolerance](const PolygonVertex& a, const PolygonVertex& b) {
    const Vec4 d = a.position_pressure - b.position_pressure;
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= tolerance * tolerance;
  };
  int n = 0;
  for (int i = 0; i < polygon->num_vertices; ++i)
    if (n == 0 || !are_near(polygon->vertex[n - 1], polygon->vertex[i])) {
      if (n != i) polygon->vertex[n] = polygon->vertex[i];
      ++n;
    }
  if (n > 1 && are_near(polygon->vertex[n - 1], polygon->vertex[0])) --n;
  polygon->num_vertices = n;
  return n >= 3;
}

PolygonMoments calc_moments(const Polygon& polygon, const Vec4& normal) {
  STICTION_ASSERT(3 <= polygon.num_vertices && polygon.num_vertices <= kMaxPolygonVertices);
  const auto turn = [](const Vec4& v) { return __builtin_shufflevector(v, v, 1, 2, 0, 3); };
  const Vec4 origin = polygon.vertex[0].position_pressure;
  // Twice the area of a triangle of the fan is normal . (a x b) = (normal x a) . b.
  const Vec4 turned_normal = turn(normal);
  const auto normal_times = [&](const Vec4& a) {
    return turn(normal * turn(a) - turned_normal * a);
  };
  Vec4 a = polygon.vertex[1].position_pressure - origin;
  Vec4 sum = Vec4{};
  double twice_area = 0;
  for (int i = 2; i < polygon.num_vertices; ++i) {
    const Vec4 b = polygon.vertex[i].position_pressure - origin;
    const Vec4 product = normal_times(a) * b;
    const double weight = product[0] + product[1] + product[2];
    twice_area += weight;
    sum = multiply_add(a + b, math::broadcast_to<Vec4>(weight), sum);
    a = b;
  }
  const double scale = twice_area > 0 ? 1 / (3 * twice_area) : 0;
  return {twice_area / 2, multiply_add(sum, math::broadcast_to<Vec4>(scale), origin)};
}

}  // namespace stiction::geometry
