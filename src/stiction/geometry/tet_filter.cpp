#include "stiction/geometry/tet_filter.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stiction::geometry {
namespace {

/// A bound of the rounding of sums of three products and a constant, relative to their terms.
constexpr float kRounding = 1e-6F;

struct Range {
  Float8 low, high;
};

/// Returns the range of at(i) over the corners i.
template <int kCorners, class At>
Range range_over(At at) {
  Range range{at(0), at(0)};
  for (int i = 1; i < kCorners; ++i) {
    const Float8 value = at(i);
    range.low = min8(range.low, value);
    range.high = max8(range.high, value);
  }
  return range;
}

template <class Normal, class Point>
auto dot3(const Normal& n, const Point& x) {
  return n[0] * x[0] + n[1] * x[1] + n[2] * x[2];
}

/// Returns the lanes where no face plane of the leaf's tetrahedron has all corners outside.
template <int kCorners>
Int8 is_within_planes(const TetLeaf& tets, const float (&corner)[kCorners][3], float pad) {
  Int8 is_within = ~Int8{};
  for (int plane = 0; plane < 4; ++plane) {
    const Float8 n[3] = {tets.plane_x[plane], tets.plane_y[plane], tets.plane_z[plane]};
    Float8 low = dot3(n, corner[0]);
    for (int i = 1; i < kCorners; ++i) low = min8(low, dot3(n, corner[i]));
    is_within &= low <= tets.plane_offset[plane] + pad;
  }
  return is_within;
}

/// Returns the largest absolute coordinate.
template <int kCorners>
float calc_reach(const float (&corner)[kCorners][3]) {
  float reach = 0;
  for (const auto& x : corner)
    for (const float coordinate : x) reach = std::max(reach, std::abs(coordinate));
  return reach;
}

void set_point(const Vec3& x, float (&to)[3]) {
  for (int i = 0; i < 3; ++i) to[i] = static_cast<float>(x[i]);
}

float size_along_axes(const Vec3& a) {
  return static_cast<float>(std::abs(a.x) + std::abs(a.y) + std::abs(a.z));
}

}  // namespace

TetLeaf make_tet_leaf(const BvhLeaf& leaf, const std::vector<Tet>& tets, const Vec3& origin) {
  TetLeaf result{};
  for (int lane = 0; lane < kWidth; ++lane) {
    const Tet& tet = tets[leaf.element[lane < leaf.num_elements ? lane : 0]];
    for (int i = 0; i < 4; ++i) {
      const Vec3 x = Vec3{tet.x[i], tet.y[i], tet.z[i]} - origin;
      const Vec3 n = {tet.plane_x[i], tet.plane_y[i], tet.plane_z[i]};
      result.x[i][lane] = static_cast<float>(x.x);
      result.y[i][lane] = static_cast<float>(x.y);
      result.z[i][lane] = static_cast<float>(x.z);
      result.pressure[i][lane] = static_cast<float>(tet.pressure[i]);
      result.plane_x[i][lane] = static_cast<float>(n.x);
      result.plane_y[i][lane] = static_cast<float>(n.y);
      result.plane_z[i][lane] = static_cast<float>(n.z);
      result.plane_offset[i][lane] = static_cast<float>(tet.plane_offset[i] - dot(n, origin));
      for (int axis = 0; axis < 3; ++axis)
        result.reach = std::max(result.reach, static_cast<float>(std::abs(x[axis])));
      result.pressure_size =
          std::max(result.pressure_size, static_cast<float>(std::abs(tet.pressure[i])));
    }
    for (int axis = 0; axis < 3; ++axis)
      result.gradient[axis][lane] = static_cast<float>(tet.gradient[axis]);
    result.constant[lane] = static_cast<float>(tet.constant + dot(tet.gradient, origin));
    result.gradient_size[lane] = size_along_axes(tet.gradient);
    result.pressure_size = std::max(result.pressure_size, std::abs(result.constant[lane]));
  }
  return result;
}

FloatTriangle make_float_triangle(const MovedTriangle& triangle, const Vec3& origin) {
  FloatTriangle result;
  for (int i = 0; i < 3; ++i) {
    const Vec4& x = triangle.corner[i];
    set_point(Vec3{x[0], x[1], x[2]} - origin, result.corner[i]);
  }
  set_point(triangle.normal, result.normal);
  result.offset = dot3(result.normal, result.corner[0]);
  result.reach = calc_reach(result.corner);
  return result;
}

FloatTet make_float_tet(const MovedTet& moved, const RigidTransform& X_TO, const Tet& tet,
                        const Vec3& origin) {
  FloatTet result;
  result.pressure_size = 0;
  for (int i = 0; i < 4; ++i) {
    const Vec4& x = moved.corner[i];
    set_point(Vec3{x[0], x[1], x[2]} - origin, result.corner[i]);
    result.pressure[i] = static_cast<float>(x[3]);
    const Vec3 n = X_TO.R * Vec3{tet.plane_x[i], tet.plane_y[i], tet.plane_z[i]};
    set_point(n, result.plane[i]);
    result.plane_offset[i] =
        static_cast<float>(tet.plane_offset[i] + dot(n, X_TO.p) - dot(n, origin));
    result.pressure_size = std::max(result.pressure_size, std::abs(result.pressure[i]));
  }
  result.reach = calc_reach(result.corner);
  set_point(moved.gradient, result.gradient);
  result.constant = static_cast<float>(moved.constant + dot(moved.gradient, origin));
  result.gradient_size = size_along_axes(moved.gradient);
  result.pressure_size = std::max(result.pressure_size, std::abs(result.constant));
  return result;
}

unsigned filter_tets(const FloatTet& O, const TetLeaf& tets, unsigned lanes, float drift) {
  const float size = O.reach + tets.reach, pad = kRounding * size + drift;

  // The plane of equal pressure must cut both tetrahedra.
  const Float8 slack = (pad * (tets.gradient_size + O.gradient_size) +
                        kRounding * (O.pressure_size + tets.pressure_size));
  const Range at_O = range_over<4>(
      [&](int i) { return dot3(tets.gradient, O.corner[i]) + (tets.constant - O.pressure[i]); });
  const Range at_T = range_over<4>([&](int i) {
    const Float8 x[3] = {tets.x[i], tets.y[i], tets.z[i]};
    return tets.pressure[i] - (dot3(O.gradient, x) + O.constant);
  });
  unsigned found =
      lanes & bits_of((max8(at_O.low, at_T.low) <= slack) & (min8(at_O.high, at_T.high) >= -slack));
  if (!found) return 0;

  // No face plane of either tetrahedron may separate the two.
  found &= bits_of(is_within_planes(tets, O.corner, pad));
  if (!found) return 0;
  Int8 is_within = ~Int8{};
  for (int plane = 0; plane < 4; ++plane) {
    const Range heights = range_over<4>([&](int i) {
      const Float8 x[3] = {tets.x[i], tets.y[i], tets.z[i]};
      return dot3(O.plane[plane], x);
    });
    is_within &= heights.low <= broadcast8(O.plane_offset[plane] + pad);
  }
  return found & bits_of(is_within);
}

unsigned filter_tets(const FloatTriangle& O, const TetLeaf& tets, unsigned lanes, float drift) {
  const float pad = kRounding * (O.reach + tets.reach) + drift;
  // The plane of the triangle must cut the tetrahedron.
  const Range heights = range_over<4>([&](int i) {
    const Float8 x[3] = {tets.x[i], tets.y[i], tets.z[i]};
    return dot3(O.normal, x) - O.offset;
  });
  unsigned found =
      lanes & bits_of((heights.low <= broadcast8(pad)) & (heights.high >= broadcast8(-pad)));
  if (!found) return 0;
  return found & bits_of(is_within_planes(tets, O.corner, pad));
}

}  // namespace stiction::geometry
