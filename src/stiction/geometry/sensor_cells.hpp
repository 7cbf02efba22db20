#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "stiction/math/vec3.hpp"

/// Parts of planar polygons in space, as cells of a sensor cut them out.
namespace stiction::geometry {

using math::Vec3;

/// The part of a polygon that is in one cell.
struct PolygonShare {
  int cell;
  double weight;  // share of the polygon's area; the weights of a polygon add up to 1
};

/// The vertices of a convex polygon in order [m], and memory to cut it.
class CutPolygon {
 public:
  /// Starts with a whole polygon.
  void start(std::span<const Vec3> polygon) { vertices_.assign(polygon.begin(), polygon.end()); }

  /// Keeps the part where normal . x <= offset [sutherland1974].
  void cut(const Vec3& normal, double offset);

  bool empty() const { return vertices_.size() < 3; }

  /// Appends the remaining part as the share of a cell, with its area as weight, if it has any.
  void add_share(int cell, std::vector<PolygonShare>* shares) const;

 private:
  std::vector<Vec3> vertices_, scratch_;
};

/// Divides the weights, which are areas, by their sum.
/// @return false if the sum is 0, or so small that its inverse is not finite
bool normalize(std::span<PolygonShare> shares);

/// Returns the mean of the vertices.
Vec3 calc_mean(std::span<const Vec3> polygon);

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

  /// Area and width below a polygon's edges in a cell.
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

/// The cells of points: a place belongs to the nearest point. A k-d tree finds those near.
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
