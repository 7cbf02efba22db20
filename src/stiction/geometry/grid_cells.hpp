#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "stiction/geometry/polygon_share.hpp"

namespace stiction::geometry {

/// The cells of a rectangular grid in the plane z = 0 of its own frame. Cell i n2 + j is the i-th
/// along x and the j-th along y. A cell is a column in the direction of z. The cells at the edges
/// of the grid have no outer bound, so every place belongs to the nearest cell.
class GridCells {
 public:
  /// @param size  extents of the grid along x and y, > 0 [m]; it is centered at the origin
  /// @param shape number of cells along x and y, > 0
  GridCells(const std::array<double, 2>& size, const std::array<int, 2>& shape);

  int size() const { return shape_[0] * shape_[1]; }
  /// Returns the center of a cell [m].
  Vec3 center(int cell) const;
  /// Returns the cell of a point.
  int find(const Vec3& x) const noexcept;
  /// Splits a convex planar polygon of at most 12 vertices among the cells.
  /// @param shares is replaced; in ascending order of cells
  void split(std::span<const Vec3> polygon, std::vector<PolygonShare>* shares) const;
  /// Splits a square with sides along x and y among the cells, in a fraction of the time.
  /// @param side > 0, less than the pitch of the grid [m]
  /// @param shares is replaced; in ascending order of cells
  void split_square(const Vec3& center, double side, std::vector<PolygonShare>* shares) const;
  /// Returns the smaller of the distances of cells along both axes [m].
  double pitch() const { return std::min(pitch_[0], pitch_[1]); }

 private:
  /// Returns the coordinates of a point along both axes, in cells from the lower edges.
  std::array<double, 2> find_coordinates(const Vec3& x) const noexcept;
  /// Returns the index of the cell at a coordinate in cells.
  int find_index(int axis, double x) const noexcept;

  std::array<int, 2> shape_;
  std::array<double, 2> pitch_, per_pitch_, lower_;  // [m], [1/m], [m]
};

}  // namespace stiction::geometry
