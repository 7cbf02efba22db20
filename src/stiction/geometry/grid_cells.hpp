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
  void split(std::span<const Vec3> polygon, std::vector<PolygonShare>* shares);
  /// Splits a square with sides along x and y among the cells, in a fraction of the time.
  /// @param side > 0, less than the pitch of the grid [m]
  /// @param shares is replaced; in ascending order of cells
  void split_square(const Vec3& center, double side, std::vector<PolygonShare>* shares) const;
  /// Returns the smaller of the distances of cells along both axes [m].
  double pitch() const { return std::min(pitch_[0], pitch_[1]); }

 private:
  using FlatPoint = std::array<double, 2>;  // in cells from the lower edges

  /// The cells that a polygon reaches, and its bounds.
  struct Box {
    std::array<int, 2> first, last;
    FlatPoint low, high;

    int width() const { return last[1] - first[1] + 1; }
    /// Returns the lower border of cell j along the second axis; for last + 1, its upper border.
    double bottom(int j) const { return j > last[1] ? high[1] : j > first[1] ? j : low[1]; }
  };

  /// What a polygon's edges in a cell have below them.
  struct Below {
    double area = 0;   // of this cell
    double width = 0;  // of the cells further down
  };

  /// Returns the coordinates of a point along both axes, in cells from the lower edges.
  FlatPoint find_coordinates(const Vec3& x) const noexcept;
  /// Returns the index of the cell at a coordinate in cells.
  int find_index(int axis, double x) const noexcept;
  void find_box(std::span<const FlatPoint> points, Box* box) const noexcept;
  void add_edge(const FlatPoint& from, const FlatPoint& to, const Box& box) noexcept;
  void add_in_strip(int i, double y0, double y1, double dx, const Box& box) noexcept;
  void add_shares(const Box& box, std::vector<PolygonShare>* shares) const;

  std::array<int, 2> shape_;
  std::array<double, 2> pitch_, per_pitch_, lower_;  // [m], [1/m], [m]
  std::vector<Below> below_;                         // scratch: of the cells of a box
};

}  // namespace stiction::geometry
