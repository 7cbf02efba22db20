#pragma once

#include <span>
#include <vector>

#include "stiction/geometry/polygon_share.hpp"

namespace stiction::geometry {

/// The cells of points in space: a place belongs to the nearest point, and to the first of them if
/// several are equally near. A k-d tree finds the points near a polygon.
class NearestCells {
 public:
  /// @param points at least one [m]
  explicit NearestCells(std::vector<Vec3> points);

  int size() const { return static_cast<int>(points_.size()); }
  /// Returns the point of a cell [m].
  const Vec3& center(int cell) const { return points_[cell]; }
  /// Returns the cell of a place.
  int find(const Vec3& x) const noexcept;
  /// Splits a convex planar polygon among the cells.
  /// @param shares is replaced; in ascending order of cells
  void split(std::span<const Vec3> polygon, std::vector<PolygonShare>* shares);

 private:
  struct Range {
    int begin, end;
  };
  static constexpr int kLeafSize = 8;

  void build(Range range);
  template <class F>
  void visit(Range range, const Vec3& x, const double& square_radius, F&& f) const noexcept;
  void find_rivals(std::span<const Vec3> polygon, int cell, const Vec3& center);

  std::vector<Vec3> points_;
  std::vector<int> order_;  // the points in the order of the tree
  std::vector<signed char>
      axis_;                 // the axis along which the point at the middle of a range splits it
  std::vector<int> rivals_;  // scratch: the cells that share the polygon
  CutPolygon part_;
};

}  // namespace stiction::geometry
