#include "stiction/geometry/grid_cells.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {
namespace {

constexpr int kMaxVertices = 12;

// A part of a polygon counts if it has more than this share of the polygon's bounding box. Less is
// rounding.
constexpr double kNoArea = 1e-12;

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

}  // namespace stiction::geometry
