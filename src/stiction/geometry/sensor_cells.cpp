#include "stiction/geometry/sensor_cells.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {

void CutPolygon::cut(const Vec3& normal, double offset) {
  if (empty()) return vertices_.clear();
  scratch_.clear();
  const Vec3* before = &vertices_.back();
  double d0 = dot(normal, *before) - offset;
  for (const Vec3& vertex : vertices_) {
    const double d1 = dot(normal, vertex) - offset;
    if ((d0 > 0) != (d1 > 0)) scratch_.push_back(*before + (d0 / (d0 - d1)) * (vertex - *before));
    if (d1 <= 0) scratch_.push_back(vertex);
    before = &vertex;
    d0 = d1;
  }
  std::swap(vertices_, scratch_);
}

void CutPolygon::add_share(int cell, std::vector<PolygonShare>* shares) const {
  double area = 0;
  for (std::size_t i = 2; i < vertices_.size(); ++i)
    area += 0.5 * norm(cross(vertices_[i - 1] - vertices_[0], vertices_[i] - vertices_[0]));
  if (area > 0) shares->push_back({cell, area});
}

bool normalize(std::span<PolygonShare> shares) {
  double sum = 0;
  for (const PolygonShare& share : shares) sum += share.weight;
  const double scale = 1 / sum;
  if (!std::isfinite(scale)) return false;
  for (PolygonShare& share : shares) share.weight *= scale;
  return true;
}

Vec3 calc_mean(std::span<const Vec3> polygon) {
  Vec3 sum;
  for (const Vec3& vertex : polygon) sum += vertex;
  return sum * (1.0 / static_cast<double>(polygon.size()));
}

namespace {

constexpr int kMaxVertices = 12;

// The least share of a polygon's bounding box that counts; less is rounding.
constexpr double kNoArea = 1e-12;

double calc_square_distance(const Vec3& a, const Vec3& b) { return dot(a - b, a - b); }

}  // namespace

GridCells::GridCells(const std::array<double, 2>& size, const std::array<int, 2>& shape)
    : shape_(shape),
      pitch_{size[0] / shape[0], size[1] / shape[1]},
      per_pitch_{shape[0] / size[0], shape[1] / size[1]},
      lower_{-0.5 * size[0], -0.5 * size[1]} {
  STICTION_ASSERT(size[0] > 0 && size[1] > 0 && shape[0] > 0 && shape[1] > 0);
  below_.resize(static_cast<std::size_t>(shape[0]) * shape[1]);
}

Vec3 GridCells::center(int cell) const {
  const int i = cell / shape_[1], j = cell % shape_[1];
  return {lower_[0] + (i + 0.5) * pitch_[0], lower_[1] + (j + 0.5) * pitch_[1], 0};
}

int GridCells::find_index(int axis, double x) const noexcept {
  return static_cast<int>(std::clamp(x, 0.0, shape_[axis] - 1.0));
}

GridCells::FlatPoint GridCells::find_coordinates(const Vec3& x) const noexcept {
  return {(x.x - lower_[0]) * per_pitch_[0], (x.y - lower_[1]) * per_pitch_[1]};
}

int GridCells::find(const Vec3& x) const noexcept {
  const auto point = find_coordinates(x);
  return find_index(0, point[0]) * shape_[1] + find_index(1, point[1]);
}

void GridCells::split_square(const Vec3& center, double side,
                             std::vector<PolygonShare>* shares) const {
  shares->clear();
  const auto point = find_coordinates(center);
  int first[2];
  double first_share[2];  // of the side, in the first of at most two cells along an axis
  for (int k = 0; k < 2; ++k) {
    const double width = side * per_pitch_[k], low = point[k] - 0.5 * width;
    first[k] = find_index(k, low);
    const bool is_last = first[k] == shape_[k] - 1;
    first_share[k] = is_last ? 1 : std::clamp((first[k] + 1 - low) / width, 0.0, 1.0);
  }
  const int cell = first[0] * shape_[1] + first[1];
  const double a = first_share[0], b = first_share[1];
  const double weights[4] = {a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)};
  const int cells[4] = {cell, cell + 1, cell + shape_[1], cell + shape_[1] + 1};
  for (int i = 0; i < 4; ++i)
    if (weights[i] > 0) shares->push_back({cells[i], weights[i]});
}

/// Fills the box of cells that a polygon reaches.
void GridCells::find_box(std::span<const FlatPoint> points, Box* box) const noexcept {
  box->low = box->high = points[0];
  for (const FlatPoint& point : points)
    for (int k = 0; k < 2; ++k) {
      box->low[k] = std::min(box->low[k], point[k]);
      box->high[k] = std::max(box->high[k], point[k]);
    }
  for (int k = 0; k < 2; ++k) {
    box->first[k] = find_index(k, box->low[k]);
    box->last[k] = find_index(k, box->high[k]);
  }
}

/// Adds the area below an edge, cell by cell. The edge must be within the box.
void GridCells::add_edge(const FlatPoint& from, const FlatPoint& to, const Box& box) noexcept {
  if (from[0] == to[0]) return;  // nothing is below it
  const bool is_forward = from[0] < to[0];
  const FlatPoint &a = is_forward ? from : to, &b = is_forward ? to : from;
  const double slope = (b[1] - a[1]) / (b[0] - a[0]), sign = is_forward ? 1 : -1;
  const auto [y_min, y_max] = std::minmax(a[1], b[1]);
  const int last = find_index(0, b[0]);
  FlatPoint start = a;
  for (int i = find_index(0, a[0]); i <= last; ++i) {
    FlatPoint end = b;
    // Rounding must not leave the box.
    if (i < last) end = {i + 1.0, std::clamp(a[1] + (i + 1 - a[0]) * slope, y_min, y_max)};
    add_in_strip(i, start[1], end[1], sign * (end[0] - start[0]), box);
    start = end;
  }
}

/// Adds the part of an edge from y0 to y1 that is in strip i and has the width dx.
void GridCells::add_in_strip(int i, double y0, double y1, double dx, const Box& box) noexcept {
  const auto [low, high] = std::minmax(y0, y1);
  const int last = find_index(1, high);
  int j = find_index(1, low);
  Below* below = &below_[(i - box.first[0]) * box.width() + j - box.first[1]];
  double start = low;
  for (const double per_height = j < last ? dx / (high - low) : 0; j < last; ++j, ++below) {
    const double end = j + 1, width = (end - start) * per_height;
    below->width += width;
    below->area += width * (0.5 * (start + end) - box.bottom(j));
    start = end;
    dx -= width;
  }
  below->width += dx;
  below->area += dx * (0.5 * (start + high) - box.bottom(j));
}

// The area of a cell in a polygon is the sum over the edges of the area of the cell below the edge,
// which counts from left to right as positive, and from right to left as negative. An edge in a
// cell has a part of this cell below it, and all of the cells further down, as wide as the edge.
void GridCells::split(std::span<const Vec3> polygon, std::vector<PolygonShare>* shares) {
  STICTION_ASSERT(!polygon.empty() && polygon.size() <= kMaxVertices);
  shares->clear();
  std::array<FlatPoint, kMaxVertices> buffer;
  const std::span<FlatPoint> points(buffer.data(), polygon.size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = find_coordinates(polygon[i]);
  Box box;
  find_box(points, &box);
  if (box.first == box.last) return shares->push_back({box.first[0] * shape_[1] + box.first[1], 1});
  std::fill_n(below_.begin(), (box.last[0] - box.first[0] + 1) * box.width(), Below{});
  for (std::size_t i = 0, before = points.size() - 1; i < points.size(); before = i++)
    add_edge(points[before], points[i], box);
  add_shares(box, shares);
  if (!normalize(*shares)) shares->assign(1, {find(calc_mean(polygon)), 1});  // without area
}

/// Appends the areas of the cells of a box.
void GridCells::add_shares(const Box& box, std::vector<PolygonShare>* shares) const {
  const double least = kNoArea * (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
  const Below* below = below_.data() + (box.last[0] - box.first[0] + 1) * box.width();
  for (int i = box.last[0]; i >= box.first[0]; --i) {
    double width = 0;  // of the edges above the cell
    for (int j = box.last[1]; j >= box.first[1]; --j) {
      --below;
      const double area = std::abs(below->area + width * (box.bottom(j + 1) - box.bottom(j)));
      width += below->width;
      if (area > least) shares->push_back({i * shape_[1] + j, area});
    }
  }
  std::reverse(shares->begin(), shares->end());
}

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

/// Calls f(point, squared distance) for all points within a distance of x, which f may reduce.
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

/// Finds the cells that may have a part of a polygon: the center's, and nearer ones of vertices.
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
