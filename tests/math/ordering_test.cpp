#include "stiction/math/ordering.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::math::ordering_test {
namespace {

std::vector<BlockEdge> make_random_edges(int num_nodes, int num_edges, std::mt19937* rng) {
  std::uniform_int_distribution<int> node(0, std::max(0, num_nodes - 1));
  std::vector<BlockEdge> edges;
  for (int e = 0; e < num_edges; ++e) edges.push_back({node(*rng), node(*rng)});
  return edges;
}

/// Returns the edges of a square grid with `side` nodes on each side.
std::vector<BlockEdge> make_grid_edges(int side) {
  std::vector<BlockEdge> edges;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      if (i > 0) edges.push_back({(i - 1) * side + j, i * side + j});
      if (j > 0) edges.push_back({i * side + j - 1, i * side + j});
    }
  return edges;
}

/// Counts the entries below the diagonal of the factor by eliminating the nodes of the graph.
int count_factor_entries(int num_nodes, const std::vector<BlockEdge>& edges,
                         std::span<const int> order) {
  std::vector<std::vector<char>> is_joined(num_nodes, std::vector<char>(num_nodes, 0));
  for (const BlockEdge& e : edges) is_joined[e.a][e.b] = is_joined[e.b][e.a] = 1;
  std::vector<char> is_left(num_nodes, 1);
  int count = 0;
  for (const int node : order) {
    is_left[node] = 0;
    std::vector<int> neighbors;
    for (int i = 0; i < num_nodes; ++i)
      if (is_left[i] && is_joined[node][i]) neighbors.push_back(i);
    count += static_cast<int>(neighbors.size());
    for (const int i : neighbors)
      for (const int j : neighbors) is_joined[i][j] = 1;
  }
  return count;
}

std::vector<int> compute(MinimumDegreeOrdering* ordering, int num_nodes,
                         const std::vector<BlockEdge>& edges) {
  const auto order = ordering->compute(num_nodes, edges);
  return {order.begin(), order.end()};
}

std::vector<int> make_natural_order(int n) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(MinimumDegreeOrdering, IsAPermutation) {
  std::mt19937 rng(5);
  MinimumDegreeOrdering ordering;
  for (int n = 0; n < 60; ++n) {
    // Random edges include repeated edges and self-edges.
    std::vector<int> order = compute(&ordering, n, make_random_edges(n, 2 * n, &rng));
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, make_natural_order(n));
  }
}

TEST(MinimumDegreeOrdering, MakesNoFillOnATree) {
  // Eliminating the center of a star first fills the factor. Eliminating the leaves first does not.
  constexpr int kLeaves = 40;
  std::vector<BlockEdge> edges;
  for (int i = 1; i <= kLeaves; ++i) edges.push_back({0, i});
  MinimumDegreeOrdering ordering;
  const std::vector<int> order = compute(&ordering, kLeaves + 1, edges);
  EXPECT_EQ(count_factor_entries(kLeaves + 1, edges, order), kLeaves);
  EXPECT_EQ(count_factor_entries(kLeaves + 1, edges, make_natural_order(kLeaves + 1)),
            kLeaves * (kLeaves + 1) / 2);
}

TEST(MinimumDegreeOrdering, HalvesTheFactorOfAGrid) {
  constexpr int kSide = 15;
  const std::vector<BlockEdge> edges = make_grid_edges(kSide);
  MinimumDegreeOrdering ordering;
  const std::vector<int> order = compute(&ordering, kSide * kSide, edges);
  EXPECT_LE(2 * count_factor_entries(kSide * kSide, edges, order),
            count_factor_entries(kSide * kSide, edges, make_natural_order(kSide * kSide)));
}

TEST(MinimumDegreeOrdering, KeepsTheOrderOfNodesWithoutEdges) {
  MinimumDegreeOrdering ordering;
  EXPECT_EQ(compute(&ordering, 5, {}), make_natural_order(5));
  EXPECT_EQ(compute(&ordering, 2, {{1, 0}}), make_natural_order(2));
}

TEST(MinimumDegreeOrdering, DoesNotDependOnRepeatsOrEarlierCalls) {
  std::mt19937 rng(6);
  MinimumDegreeOrdering used;
  for (int n = 50; n > 2; --n) {
    const std::vector<BlockEdge> edges = make_random_edges(n, 3 * n, &rng);
    std::vector<BlockEdge> repeated = edges;
    for (const BlockEdge& e : edges) {
      repeated.push_back({e.b, e.a});
      repeated.push_back({e.a, e.a});
    }
    MinimumDegreeOrdering fresh;
    EXPECT_EQ(compute(&used, n, repeated), compute(&fresh, n, edges)) << n;
  }
}

}  // namespace
}  // namespace stiction::math::ordering_test
