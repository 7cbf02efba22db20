#pragma once

#include <array>
#include <vector>

#include "stiction/geometry/meshes.hpp"

namespace stiction::geometry {

/// The point of triangle (a, b, c) nearest to x; of a triangle without area too.
Vec3 find_nearest_point(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c);

/// Exact distances to triangles, by a binary tree of boxes: O(log n) a query, O(n log n) to make.
class SurfaceDistance {
 public:
  /// @param surface at least one triangle, all coordinates finite; copied
  explicit SurfaceDistance(const TriangleMesh& surface);

  /// The distance >= 0 from x to the nearest triangle [m].
  double calc(const Vec3& x) const;

 private:
  struct Node {
    Vec3 low, high;
    int first, last;  // triangles
    int right;        // child, the left one is the next node; -1 for a leaf
  };

  int add_node(int first, int last);
  void search(int node, const Vec3& x, double* best) const;

  std::vector<std::array<Vec3, 3>> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace stiction::geometry
