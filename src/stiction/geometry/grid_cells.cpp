#include "stiction/geometry/grid_cells.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {
namespace {

/// A convex polygon in the plane of the grid. Coordinates are in cells. The two cuts that bound a
/// cell along an axis add at most one vertex each; the capacity leaves room for rounding.
struct FlatPolygon {
  static constexpr int kMaxVertices = 12, kCapacity = kMaxVertices + 8;
  using Point = std::array<double, 2>;

  void add(const Point& point) {
    if (size < kCapacity) points[size++] = point;
  }
  double calc_area() const {
    double sum = 0;
    for (int i = 2; i < size; ++i)
      sum += (points[i - 1][0] - points[0][0]) * (points[i][1] - points[0][1]) -
             (points[i][0] - points[0][0]) * (points[i - 1][1] - points[0][1]);
    return 0.5 * std::abs(sum);
  }

  int size = 0;
  std::array<Point, kCapacity> points;
};

/// Splits a polygon at a coordinate along an axis.
/// @param low  the part below it
/// @param high the part above it
void split_at(const FlatPolygon& whole, int axis, double border, FlatPolygon* low,
              FlatPolygon* high) {
  low->size = high->size = 0;
  const FlatPolygon::Point* before = &whole.points[std::max(whole.size - 1, 0)];
  for (int i = 0; i < whole.size; ++i) {
    const FlatPolygon::Point& point = whole.points[i];
    const double d0 = (*before)[axis] - border, d1 = point[axis] - border;
    if ((d0 > 0) != (d1 > 0)) {
      const double t = d0 / (d0 - d1);
      FlatPolygon::Point cut = {(*before)[0] + t * (point[0] - (*before)[0]),
                                (*before)[1] + t * (point[1] - (*before)[1])};
      cut[axis] = border;
      low->add(cut);
      high->add(cut);
    }
    (d1 > 0 ? high : low)->add(point);
    before = &point;
  }
}

}  // namespace

GridCells::GridCells(const std::array<double, 2>& size, const std::array<int, 2>& shape)
    : shape_(shape),
      pitch_{size[0] / shape[0], size[1] / shape[1]},
      per_pitch_{shape[0] / size[0], shape[1] / size[1]},
      lower_{-0.5 * size[0], -0.5 * size[1]} {
  STICTION_ASSERT(size[0] > 0 && size[1] > 0 && shape[0] > 0 && shape[1] > 0);
}

Vec3 GridCells::center(int cell) const {
  const int i = cell / shape_[1], j = cell % shape_[1];
  return {lower_[0] + (i + 0.5) * pitch_[0], lower_[1] + (j + 0.5) * pitch_[1], 0};
}

int GridCells::find_index(int axis, double x) const noexcept {
  return static_cast<int>(std::clamp(std::floor(x), 0.0, shape_[axis] - 1.0));
}

std::array<double, 2> GridCells::find_coordinates(const Vec3& x) const noexcept {
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

void GridCells::split(std::span<const Vec3> polygon, std::vector<PolygonShare>* shares) const {
  STICTION_ASSERT(!polygon.empty() && polygon.size() <= FlatPolygon::kMaxVertices);
  shares->clear();
  FlatPolygon buffers[4];
  FlatPolygon *rest = &buffers[0], *strip = &buffers[1], *part = &buffers[2], *next = &buffers[3];
  std::array<double, 2> low = find_coordinates(polygon[0]), high = low;
  for (const Vec3& x : polygon) {
    const auto point = find_coordinates(x);
    rest->add(point);
    for (int k = 0; k < 2; ++k) low[k] = std::min(low[k], point[k]);
    for (int k = 0; k < 2; ++k) high[k] = std::max(high[k], point[k]);
  }
  const int i0 = find_index(0, low[0]), i1 = find_index(0, high[0]);
  const int j0 = find_index(1, low[1]), j1 = find_index(1, high[1]);
  if (i0 == i1 && j0 == j1) return shares->push_back({i0 * shape_[1] + j0, 1});
  for (int i = i0; i <= i1; ++i) {
    if (i < i1) {
      split_at(*rest, 0, i + 1, strip, next);
      std::swap(rest, next);
    } else {
      std::swap(rest, strip);
    }
    for (int j = j0; j <= j1; ++j) {
      if (j < j1) {
        split_at(*strip, 1, j + 1, part, next);
        std::swap(strip, next);
      } else {
        std::swap(strip, part);
      }
      const double area = part->calc_area();
      if (area > 0) shares->push_back({i * shape_[1] + j, area});
    }
  }
  if (!normalize(*shares)) shares->assign(1, {find(calc_mean(polygon)), 1});  // without area
}

}  // namespace stiction::geometry
