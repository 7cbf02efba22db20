#pragma once

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

}  // namespace stiction::geometry
