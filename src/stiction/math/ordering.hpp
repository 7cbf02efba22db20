#pragma once

#include <span>
#include <vector>

namespace stiction::math {

/// An undirected edge between two blocks of a symmetric block-sparse matrix.
struct BlockEdge {
  int a;
  int b;
  friend bool operator==(const BlockEdge&, const BlockEdge&) = default;
};

/// Approximate-minimum-degree ordering of a graph's nodes (SuiteSparse AMD, [amestoy2004]), with
/// memory that is kept between calls.
class MinimumDegreeOrdering {
 public:
  /// @param num_nodes number of nodes n >= 0
  /// @param edges     pairs of nodes in [0, n); repeats and self-edges are allowed
  /// @return order, size n: order[p] is the node eliminated p-th. Valid until the next call.
  std::span<const int> compute(int num_nodes, std::span<const BlockEdge> edges);

 private:
  std::vector<int> order_;
  std::vector<int> degree_;
  std::vector<int> work_;  // the arrays of amd_2, one after the other
};

}  // namespace stiction::math
