#include "stiction/math/block_sparse_cholesky.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "stiction/math/ordering.hpp"

namespace stiction::math {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

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
      // [Ja Jb]^T [Ja Jb], the Hessian of a coupling.
      MatrixXd J = MatrixXd::Zero(3, start.back());
      J.middleCols(start[e.a], sizes[e.a]) = random(3, sizes[e.a]);
      J.middleCols(start[e.b], sizes[e.b]) = random(3, sizes[e.b]);
      A += J.transpose() * J;
    }
  }

  void fill(BlockSparseCholesky* cholesky) const {
    cholesky->set_zero();
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

/// |A x - b| / (|A| |x|), which Cholesky keeps near round-off for any condition.
double calc_backward_error(const MatrixXd& A, const VectorXd& x, const VectorXd& b) {
  return (A * x - b).norm() / std::max(1e-300, A.norm() * x.norm());
}

TEST(BlockSparseCholesky, SolvesAsDenseForRandomGraphs) {
  std::mt19937 rng(1);
  BlockSparseCholesky cholesky;  // one object for all: analyze may be called again
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
    system.fill(&cholesky);  // and forgets what was eliminated
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

TEST(MinimumDegreeOrdering, IsAPermutation) {
  std::mt19937 rng(5);
  MinimumDegreeOrdering ordering;
  for (int n = 0; n < 60; ++n) {
    std::vector<BlockEdge> edges;
    std::uniform_int_distribution<int> node(0, std::max(0, n - 1));
    for (int e = 0; e < 2 * n; ++e) edges.push_back({node(rng), node(rng)});  // repeats and loops
    const auto order = ordering.compute(n, edges);
    std::vector<int> sorted(order.begin(), order.end());
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < n; ++i) ASSERT_EQ(sorted[i], i) << "n " << n;
  }
}

TEST(MinimumDegreeOrdering, MakesNoFillOnATree) {
  // A star eliminated from its centre would fill completely; its leaves first, not at all.
  constexpr int kLeaves = 40;
  std::vector<BlockEdge> edges;
  for (int i = 1; i <= kLeaves; ++i) edges.push_back({0, i});
  MinimumDegreeOrdering ordering;
  const auto order = ordering.compute(kLeaves + 1, edges);
  std::vector<int> rank(kLeaves + 1);
  for (int k = 0; k <= kLeaves; ++k) rank[order[k]] = k;
  for (BlockEdge& e : edges) e = {rank[e.a], rank[e.b]};
  BlockSparseCholesky cholesky;
  cholesky.analyze(std::vector<int>(kLeaves + 1, 6), edges);
  EXPECT_EQ(cholesky.num_values(), 36u * (2 * kLeaves + 1));
}

}  // namespace
}  // namespace stiction::math
