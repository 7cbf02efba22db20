#include "stiction/math/block_sparse_cholesky.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace stiction::math::block_sparse_cholesky_test {
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

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor>;

/// A random symmetric positive definite matrix of blocks with the pattern of a graph.
struct RandomSystem {
  std::vector<int> sizes;
  std::vector<int> start{0};
  std::vector<BlockEdge> edges;
  MatrixXd A;

  RandomSystem(int num_blocks, double degree, std::mt19937* rng, int fixed_size = 0) {
    std::uniform_int_distribution<int> size(0, 9);
    for (int i = 0; i < num_blocks; ++i) {
      sizes.push_back(fixed_size ? fixed_size : size(*rng));
      start.push_back(start.back() + sizes.back());
    }
    std::bernoulli_distribution connected(std::min(1.0, degree / std::max(1, num_blocks - 1)));
    for (int i = 0; i < num_blocks; ++i)
      for (int j = 0; j < i; ++j)
        if (connected(*rng)) edges.push_back({i, j});
    A = MatrixXd::Zero(start.back(), start.back());
    std::normal_distribution<double> normal;
    const auto random = [&](int r, int c) {
      return MatrixXd::NullaryExpr(r, c, [&] { return normal(*rng); }).eval();
    };
    for (int i = 0; i < num_blocks; ++i) {
      const MatrixXd B = random(sizes[i], sizes[i]);
      A.block(start[i], start[i], sizes[i], sizes[i]) =
          B * B.transpose() + MatrixXd::Identity(sizes[i], sizes[i]);
    }
    for (const BlockEdge& e : edges) {
      // Adds [Ja Jb]^T [Ja Jb], the Hessian of a constraint between the two blocks.
      MatrixXd J = MatrixXd::Zero(3, start.back());
      J.middleCols(start[e.a], sizes[e.a]) = random(3, sizes[e.a]);
      J.middleCols(start[e.b], sizes[e.b]) = random(3, sizes[e.b]);
      A += J.transpose() * J;
    }
  }

  MatrixXd block(int i, int j) const { return A.block(start[i], start[j], sizes[i], sizes[j]); }

  void fill(BlockSparseCholesky* cholesky) const {
    cholesky->start();
    const auto copy = [&](int i, int j, BlockSparseCholesky::Block to) {
      for (int c = 0; c < sizes[j]; ++c)
        for (int r = 0; r < sizes[i]; ++r)
          if (i != j || r >= c) to.data[r + c * to.stride] = A(start[i] + r, start[j] + c);
    };
    for (int i = 0; i < static_cast<int>(sizes.size()); ++i) copy(i, i, cholesky->diagonal(i));
    for (const BlockEdge& e : edges) {
      const int i = std::max(e.a, e.b), j = std::min(e.a, e.b);
      copy(i, j, cholesky->below_diagonal(i, j));
    }
  }
};

/// Returns |A x - b| / (|A| |x|). A Cholesky solve keeps it near round-off for any condition
/// number.
double calc_backward_error(const MatrixXd& A, const VectorXd& x, const VectorXd& b) {
  return (A * x - b).norm() / std::max(1e-300, A.norm() * x.norm());
}

TEST(BlockSparseCholesky, AgreesWithADenseSolveOnRandomGraphs) {
  std::mt19937 rng(1);
  BlockSparseCholesky cholesky;  // One object solves all systems: analyze may be called again.
  for (int trial = 0; trial < 200; ++trial) {
    const int num_blocks = 1 + trial % 23;
    const RandomSystem system(num_blocks, trial % 7, &rng, trial % 3 == 0 ? 6 : 0);
    cholesky.analyze(system.sizes, system.edges);
    ASSERT_EQ(cholesky.num_rows(), system.start.back());
    system.fill(&cholesky);
    ASSERT_TRUE(cholesky.factor());
    const VectorXd b = VectorXd::Random(system.start.back());
    VectorXd x = b;
    cholesky.solve_in_place({x.data(), static_cast<std::size_t>(x.size())});
    if (x.size() > 0) {
      EXPECT_LT(calc_backward_error(system.A, x, b), 1e-14) << "trial " << trial;
      EXPECT_LT((x - system.A.llt().solve(b)).norm(), 1e-9 * (1 + x.norm())) << "trial " << trial;
    }
  }
}

TEST(BlockSparseCholesky, RefactorsWithNewValues) {
  std::mt19937 rng(2);
  RandomSystem system(12, 3, &rng, 6);
  BlockSparseCholesky cholesky;
  cholesky.analyze(system.sizes, system.edges);
  for (const double scale : {1.0, 1e-3, 1e6}) {
    RandomSystem scaled = system;
    scaled.A *= scale;
    scaled.fill(&cholesky);
    ASSERT_TRUE(cholesky.factor());
    const VectorXd b = VectorXd::Ones(system.start.back());
    VectorXd x = b;
    cholesky.solve_in_place({x.data(), static_cast<std::size_t>(x.size())});
    EXPECT_LT(calc_backward_error(scaled.A, x, b), 1e-14);
  }
}

TEST(BlockSparseCholesky, EliminatesTheFirstBlocksOnceForManyFactors) {
  std::mt19937 rng(6);
  BlockSparseCholesky cholesky;
  for (int trial = 0; trial < 60; ++trial) {
    RandomSystem system(1 + trial % 12, 3, &rng, trial % 2 == 0 ? 6 : 0);
    const int num_blocks = static_cast<int>(system.sizes.size());
    const int num_first = trial % (num_blocks + 1);
    const int first_row = system.start[num_first], num_rows = system.start.back();
    cholesky.analyze(system.sizes, system.edges);
    system.fill(&cholesky);
    ASSERT_TRUE(cholesky.eliminate_first(num_first));
    const MatrixXd A = system.A;
    for (const double shift : {0.0, 1.0, 1e3}) {
      cholesky.restore_remaining();
      for (int b = num_first; b < num_blocks; ++b)
        for (int i = 0; i < system.sizes[b]; ++i)
          cholesky.diagonal(b).data[i * (cholesky.diagonal(b).stride + 1)] += shift;
      ASSERT_TRUE(cholesky.factor());
      system.A = A;
      system.A.diagonal().tail(num_rows - first_row).array() += shift;
      const VectorXd b = VectorXd::Random(num_rows);
      VectorXd x = b;
      cholesky.solve_in_place({x.data(), static_cast<std::size_t>(x.size())});
      EXPECT_LE(calc_backward_error(system.A, x, b), 1e-14) << "trial " << trial;
    }
    system.A = A;
    system.fill(&cholesky);  // This forgets the elimination.
    ASSERT_TRUE(cholesky.factor());
    VectorXd x = VectorXd::Ones(num_rows);
    cholesky.solve_in_place({x.data(), static_cast<std::size_t>(x.size())});
    EXPECT_LE(calc_backward_error(A, x, VectorXd::Ones(num_rows)), 1e-14) << "trial " << trial;
  }
}

TEST(BlockSparseCholesky, RefusesAnIndefiniteMatrix) {
  std::mt19937 rng(3);
  RandomSystem system(5, 2, &rng, 6);
  system.A(system.start[3] + 2, system.start[3] + 2) = -1;
  BlockSparseCholesky cholesky;
  cholesky.analyze(system.sizes, system.edges);
  system.fill(&cholesky);
  EXPECT_FALSE(cholesky.factor());
}

TEST(BlockSparseCholesky, RefusesNotANumber) {
  std::mt19937 rng(4);
  RandomSystem system(4, 2, &rng, 6);
  system.A(0, 0) = std::numeric_limits<double>::quiet_NaN();
  BlockSparseCholesky cholesky;
  cholesky.analyze(system.sizes, system.edges);
  system.fill(&cholesky);
  EXPECT_FALSE(cholesky.factor());
}

TEST(BlockSparseCholesky, FactorsAgainAfterNumbersThatAreNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int size = 1; size <= 9; ++size) {
      std::mt19937 rng(5);
      RandomSystem system(1, 0, &rng, size);
      BlockSparseCholesky cholesky;
      cholesky.analyze(system.sizes, system.edges);
      for (const bool is_bad : {true, false}) {
        RandomSystem next = system;
        if (is_bad) next.A(size - 1, 0) = next.A(size / 2, size / 2) = bad;
        next.fill(&cholesky);
        if (is_bad) {
          (void)cholesky.factor();
          continue;
        }
        ASSERT_TRUE(cholesky.factor()) << "size " << size;
        const VectorXd b = VectorXd::Ones(size);
        VectorXd x = b;
        cholesky.solve_in_place({x.data(), static_cast<std::size_t>(size)});
        EXPECT_LE(calc_backward_error(system.A, x, b), 1e-14) << "size " << size;
      }
    }
  }
}

TEST(BlockSparseCholesky, CopiesDenseBlocksToTheirPlaces) {
  std::mt19937 rng(7);
  for (int trial = 0; trial < 20; ++trial) {
    const RandomSystem system(1 + trial, 4, &rng, trial % 2 == 0 ? 6 : 0);
    BlockSparseCholesky cholesky;
    cholesky.analyze(system.sizes, system.edges);
    cholesky.start();
    for (int i = 0; i < static_cast<int>(system.sizes.size()); ++i)
      cholesky.copy_diagonal(i, system.block(i, i).data());
    // Either triangle of the matrix may be given.
    for (const BlockEdge& e : system.edges) {
      const bool is_swapped = (e.a + e.b) % 2 == 0;
      const int i = is_swapped ? e.b : e.a, j = is_swapped ? e.a : e.b;
      cholesky.copy_off_diagonal(i, j, system.block(i, j).data());
    }
    ASSERT_TRUE(cholesky.factor());
    const VectorXd b = VectorXd::Ones(system.start.back());
    VectorXd x = b;
    cholesky.solve_in_place({x.data(), static_cast<std::size_t>(x.size())});
    EXPECT_LE(calc_backward_error(system.A, x, b), 1e-14) << "trial " << trial;
  }
}

TEST(BlockSparseCholesky, LowerSolveHasTheNormOfTheInverse) {
  std::mt19937 rng(8);
  const RandomSystem system(15, 3, &rng);
  BlockSparseCholesky cholesky;
  cholesky.analyze(system.sizes, system.edges);
  system.fill(&cholesky);
  ASSERT_TRUE(cholesky.factor());
  const VectorXd b = VectorXd::Random(system.start.back());
  VectorXd y = b;
  cholesky.solve_lower_in_place({y.data(), static_cast<std::size_t>(y.size())});
  const double expected = b.dot(system.A.llt().solve(b));
  EXPECT_NEAR(y.squaredNorm(), expected, 1e-12 * expected);
}

TEST(BlockSparseCholesky, SolvesSixRightHandSidesInTheirReachOnly) {
  std::mt19937 rng(9);
  for (int trial = 0; trial < 40; ++trial) {
    const RandomSystem system(12, 2, &rng, trial % 2 == 0 ? 6 : 0);
    const int num_rows = system.start.back(), block = trial % 12;
    BlockSparseCholesky cholesky;
    cholesky.analyze(system.sizes, system.edges);
    system.fill(&cholesky);
    ASSERT_TRUE(cholesky.factor());
    std::vector<int> reach;
    cholesky.add_reach(block, &reach);
    cholesky.add_reach(block, &reach);  // adds nothing
    ASSERT_TRUE(std::is_sorted(reach.begin(), reach.end()));
    ASSERT_EQ(std::adjacent_find(reach.begin(), reach.end()), reach.end());

    // Right-hand sides B in one block, and B^T A^-1 B from the rows of Y that are reached.
    MatrixXd B = MatrixXd::Zero(num_rows, 6);
    B.middleRows(system.start[block], system.sizes[block]).setRandom();
    RowMajor Y = B;
    cholesky.solve_lower_six(reach, Y.data());
    MatrixXd product = MatrixXd::Zero(6, 6);
    for (const int j : reach)
      for (int r = 0; r < system.sizes[j]; ++r) {
        const VectorXd y = Y.row(system.start[j] + r);
        product += y * y.transpose() * cholesky.inv_diagonal(j)[r];
      }
    const MatrixXd expected = B.transpose() * system.A.llt().solve(B);
    EXPECT_LE((product - expected).norm(), 1e-12 * (1 + expected.norm())) << "trial " << trial;
  }
}

}  // namespace

}  // namespace stiction::math::block_sparse_cholesky_test
