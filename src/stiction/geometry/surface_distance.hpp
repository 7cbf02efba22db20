#pragma once

#include <array>
#include <vector>

#include "stiction/geometry/meshes.hpp"

namespace stiction::geometry {

/// Returns the point of triangle (a, b, c) nearest to x. The triangle may have no area.
Vec3 find_nearest_point(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c);

/// Computes exact distances to a set of triangles with a binary tree of boxes. A query costs
/// O(log n), the construction O(n log n).
class SurfaceDistance {
 public:
  /// @param surface at least one triangle with finite coordinates; it is copied
  explicit SurfaceDistance(const TriangleMesh& surface);

  /// Returns the distance >= 0 from x to the nearest triangle [m].
  double calc(const Vec3& x) const;

 private:
  struct Node {
    Vec3 low, high;
    int first, last;  // range of triangles
    int right;        // index of the right child, -1 for a leaf; the left child is the next node
  };

  int add_node(int first, int last);
  void search(int node, const Vec3& x, double* best) const;

  std::vector<std::array<Vec3, 3>> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace stiction::geometry
