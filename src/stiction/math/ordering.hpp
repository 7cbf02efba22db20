#pragma once

#include <span>
#include <vector>

namespace stiction::math {

/// An undirected edge between two blocks of a symmetric block-sparse matrix, or two nodes of its
/// graph.
struct BlockEdge {
  int a;
  int b;
  friend bool operator==(const BlockEdge&, const BlockEdge&) = default;
};

/// Approximate-minimum-degree ordering of the nodes of a graph (SuiteSparse AMD, [amestoy2004]).
/// Memory is reused between calls.
class MinimumDegreeOrdering {
 public:
  /// Computes an elimination order that keeps the fill of a Cholesky factor small.
  /// @param num_nodes number of nodes n >= 0
  /// @param edges     pairs of nodes in [0, n); repeats and self-edges are allowed
  /// @return order, size n: order[p] is the node eliminated p-th. Valid until the next call.
  std::span<const int> compute(int num_nodes, std::span<const BlockEdge> edges);

 private:
  std::vector<int> order_;
  std::vector<int> degree_;
  std::vector<int> work_;  // arrays of amd_2, one after the other
};

}  // namespace stiction::math
