// Measures the ordering, the factorization and the solve of Hessians of piles of bodies. Blocks are
// 6 x 6, and each body touches its neighbors.

#include <algorithm>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "stiction/math/block_sparse_cholesky.hpp"

namespace {

using stiction::math::BlockEdge;
using stiction::math::BlockSparseCholesky;

constexpr int kBlock = 6;

/// Returns the contacts of a pile: columns of ten bodies on a square grid. Bodies touch along the
/// columns, and many touch a neighbor in another column.
std::vector<BlockEdge> make_pile(int num_bodies) {
  constexpr int kLevels = 10;
  std::mt19937 random(1);
  std::vector<BlockEdge> edges;
  for (int i = 0; i < num_bodies; ++i) {
    if (i % kLevels + 1 < kLevels) edges.push_back({i, i + 1});
    if (i + kLevels < num_bodies && random() % 2) edges.push_back({i, i + kLevels});
    if (i + 4 * kLevels < num_bodies && random() % 2) edges.push_back({i, i + 4 * kLevels});
  }
  return edges;
}

/// A positive definite matrix on the graph of a pile, with its blocks in elimination order.
class PileMatrix {
 public:
  explicit PileMatrix(int num_bodies) : sizes_(num_bodies, kBlock) {
    const std::vector<BlockEdge> edges = make_pile(num_bodies);
    stiction::math::MinimumDegreeOrdering ordering;
    const auto order = ordering.compute(num_bodies, edges);
    std::vector<int> rank(num_bodies);
    for (int p = 0; p < num_bodies; ++p) rank[order[p]] = p;
    for (const BlockEdge& e : edges)
      edges_.push_back({std::max(rank[e.a], rank[e.b]), std::min(rank[e.a], rank[e.b])});
    cholesky.analyze(sizes_, edges_);
  }

  void fill() {
    cholesky.start();
    for (int b = 0; b < static_cast<int>(sizes_.size()); ++b) {
      const auto to = cholesky.diagonal(b);
      for (int i = 0; i < kBlock; ++i) to.data[i * (to.stride + 1)] = 50;
    }
    for (const BlockEdge& e : edges_) {
      const auto to = cholesky.below_diagonal(e.a, e.b);
      for (int c = 0; c < kBlock; ++c)
        for (int r = 0; r < kBlock; ++r) to.data[r + c * to.stride] = r == c ? -1 : 0.1;
    }
  }

  BlockSparseCholesky cholesky;

 private:
  std::vector<int> sizes_;
  std::vector<BlockEdge> edges_;
};

void factor(benchmark::State& state) {
  PileMatrix matrix(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    matrix.fill();
    if (!matrix.cholesky.factor()) state.SkipWithError("not positive definite");
  }
}
BENCHMARK(factor)->Arg(40)->Arg(160)->Arg(640)->Unit(benchmark::kMicrosecond);

void solve(benchmark::State& state) {
  PileMatrix matrix(static_cast<int>(state.range(0)));
  matrix.fill();
  if (!matrix.cholesky.factor()) state.SkipWithError("not positive definite");
  std::vector<double> x(matrix.cholesky.num_rows(), 1.0);
  for (auto _ : state) {
    matrix.cholesky.solve_in_place(x);
    benchmark::DoNotOptimize(x.data());
  }
}
BENCHMARK(solve)->Arg(40)->Arg(160)->Arg(640)->Unit(benchmark::kMicrosecond);

void order(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const std::vector<BlockEdge> edges = make_pile(n);
  stiction::math::MinimumDegreeOrdering ordering;
  for (auto _ : state) benchmark::DoNotOptimize(ordering.compute(n, edges).data());
}
BENCHMARK(order)->Arg(40)->Arg(160)->Arg(640)->Unit(benchmark::kMicrosecond);

}  // namespace
