#include "stiction/geometry/nearest_cells.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {
namespace {

double calc_square_distance(const Vec3& a, const Vec3& b) { return dot(a - b, a - b); }

}  // namespace

NearestCells::NearestCells(std::vector<Vec3> points)
    : points_(std::move(points)), order_(points_.size()), axis_(points_.size()) {
  STICTION_ASSERT(!points_.empty());
  std::iota(order_.begin(), order_.end(), 0);
  build({0, size()});
}

/// Splits a range of points at the middle of its widest axis.
void NearestCells::build(Range range) {
  if (range.end - range.begin <= kLeafSize) return;
  Vec3 low = points_[order_[range.begin]], high = low;
  for (int i = range.begin; i < range.end; ++i) {
    low = componentwise_min(low, points_[order_[i]]);
    high = componentwise_max(high, points_[order_[i]]);
  }
  const Vec3 extent = high - low;
  const int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
  const int middle = (range.begin + range.end) / 2;
  std::nth_element(order_.begin() + range.begin, order_.begin() + middle,
                   order_.begin() + range.end,
                   [&](int a, int b) { return points_[a][axis] < points_[b][axis]; });
  axis_[middle] = static_cast<signed char>(axis);
  build({range.begin, middle});
  build({middle + 1, range.end});
}

/// Calls f(point, square of its distance to x) for all points within a distance of x, which f may
/// reduce.
template <class F>
void NearestCells::visit(Range range, const Vec3& x, const double& square_radius,
                         F&& f) const noexcept {
  const auto visit_point = [&](int i) {
    const double square = calc_square_distance(points_[order_[i]], x);
    if (square <= square_radius) f(order_[i], square);
  };
  if (range.end - range.begin <= kLeafSize) {
    for (int i = range.begin; i < range.end; ++i) visit_point(i);
    return;
  }
  const int middle = (range.begin + range.end) / 2, axis = axis_[middle];
  const double side = x[axis] - points_[order_[middle]][axis];
  const Range lower = {range.begin, middle}, upper = {middle + 1, range.end};
  visit(side < 0 ? lower : upper, x, square_radius, f);
  visit_point(middle);
  if (side * side <= square_radius) visit(side < 0 ? upper : lower, x, square_radius, f);
}

int NearestCells::find(const Vec3& x) const noexcept {
  int nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  visit({0, size()}, x, least, [&](int point, double square) {
    if (square == least && point > nearest) return;
    nearest = point;
    least = square;
  });
  return nearest;
}

/// Finds the cells that may have a part of a polygon: the cell of its center, and each cell whose
/// point is nearer to one of the polygon's vertices than the point of that cell.
void NearestCells::find_rivals(std::span<const Vec3> polygon, int cell, const Vec3& center) {
  double radius = 0;
  for (const Vec3& vertex : polygon) radius = std::max(radius, norm(vertex - center));
  // The point nearest to a place of the polygon is no farther from it than `cell`.
  const double reach = norm(points_[cell] - center) + 2 * radius;
  rivals_.assign(1, cell);
  const double square_reach = reach * reach;
  visit({0, size()}, center, square_reach, [&](int point, double) {
    const auto is_nearer = [&](const Vec3& vertex) {
      return calc_square_distance(vertex, points_[point]) <
             calc_square_distance(vertex, points_[cell]);
    };
    if (point != cell && std::any_of(polygon.begin(), polygon.end(), is_nearer))
      rivals_.push_back(point);
  });
  std::sort(rivals_.begin(), rivals_.end());
}

void NearestCells::split(std::span<const Vec3> polygon, std::vector<PolygonShare>* shares) {
  shares->clear();
  const Vec3 center = calc_mean(polygon);
  const int cell = find(center);
  find_rivals(polygon, cell, center);
  for (const int own : rivals_) {
    part_.start(polygon);
    // Keep what is nearer to `own`: |x - a|^2 <= |x - b|^2.
    for (const int other : rivals_) {
      if (other == own) continue;
      const Vec3 &a = points_[own], &b = points_[other];
      part_.cut(2 * (b - a), dot(b, b) - dot(a, a));
    }
    part_.add_share(own, shares);
  }
  if (!normalize(*shares)) shares->assign(1, {cell, 1});  // a polygon without area
}

}  // namespace stiction::geometry
