#include "stiction/formulations/rigid/cone/cone_blocks.hpp"

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

void ConeBlocks::assemble(const ReducedProblem& problem) {
  const auto n = static_cast<std::size_t>(problem.num_columns);
  u_hat_ = problem.u_hat;
  blocks_.clear();
  columns_.clear();
  values_.clear();
  for (int i = 0; i < problem.num_unilateral; ++i) {
    const double* const normal = problem.N.data() + i * n;
    if (i >= problem.num_contacts || problem.mu[i] == 0) {
      add_block(BlockSet::kHalfLine, 0, {{normal}}, {problem.b_n[i]});
      continue;
    }
    const double* const t1 = problem.T.data() + 2 * i * n;
    const double* const rows[] = {normal, t1, t1 + n};
    add_block(BlockSet::kCone, problem.mu[i], rows,
              {problem.b_n[i], problem.b_t[2 * i], problem.b_t[2 * i + 1]});
  }
  for (std::size_t i = 0; i < problem.dry_bounds.size(); ++i)
    add_block(BlockSet::kInterval, problem.dry_bounds[i], {{problem.F.data() + i * n}},
              {problem.b_f[i]});

  // A block whose rows are only the round-off of projections cannot move.
  double largest = 0;
  for (const ConeBlock& block : blocks_) largest = std::max(largest, block.mobility);
  for (ConeBlock& block : blocks_)
    if (block.mobility <= kProjectionRoundOff * kProjectionRoundOff * largest) block.mobility = 0;
}

void ConeBlocks::add_block(BlockSet set, double bound, std::span<const double* const> rows,
                           const BlockVector& b) {
  const int num_rows = static_cast<int>(rows.size());
  ConeBlock& block = blocks_.emplace_back();
  block = {.set = set,
           .bound = bound,
           .mobility = 0,
           .b = b,
           .num_rows = num_rows,
           .first_column = static_cast<int>(columns_.size()),
           .num_columns = 0,
           .first_value = values_.size()};
  const auto is_zero = [&](int column) {
    return std::all_of(rows.begin(), rows.end(),
                       [column](const double* row) { return row[column] == 0; });
  };
  for (int column = 0; column < num_dofs(); ++column)
    if (!is_zero(column)) columns_.push_back(column);
  block.num_columns = static_cast<int>(columns_.size()) - block.first_column;
  for (const double* row : rows)
    for (const int column : columns(block)) values_.push_back(row[column]);
  const int size = num_rows * block.num_columns;
  const double* const first = values_.data() + block.first_value;
  block.mobility = math::dot(size, first, first) / num_rows;
}

BlockVector ConeBlocks::calc_velocity(const ConeBlock& block, std::span<const double> u) const {
  BlockVector w = block.b;
  const std::span<const int> at = columns(block);
  const double* row = rows(block);
  for (int k = 0; k < block.num_rows; ++k, row += block.num_columns)
    for (int j = 0; j < block.num_columns; ++j) w[k] += row[j] * u[at[j]];
  return w;
}

void ConeBlocks::add_impulse(const ConeBlock& block, const BlockVector& r,
                             std::span<double> u) const {
  const std::span<const int> at = columns(block);
  const double* row = rows(block);
  for (int k = 0; k < block.num_rows; ++k, row += block.num_columns)
    for (int j = 0; j < block.num_columns; ++j) u[at[j]] += row[j] * r[k];
}

void ConeBlocks::calc_motion(std::span<const BlockVector> r, std::vector<double>* u) const {
  STICTION_ASSERT(static_cast<int>(r.size()) == size());
  u->assign(u_hat_.begin(), u_hat_.end());
  for (int i = 0; i < size(); ++i) add_impulse(blocks_[i], r[i], *u);
}

void ConeBlocks::read_out(std::span<const BlockVector> r, const ReducedProblem& problem,
                          RigidImpulses* out) const {
  STICTION_ASSERT(static_cast<int>(r.size()) == size());
  out->unilateral.resize(problem.num_unilateral);
  out->tangents.assign(static_cast<std::size_t>(2) * problem.num_contacts, 0.0);
  out->dry.resize(problem.dry_bounds.size());
  for (int i = 0; i < problem.num_unilateral; ++i) {
    out->unilateral[i] = r[i][0];
    if (blocks_[i].set == BlockSet::kCone)
      std::copy_n(r[i].data() + 1, 2, out->tangents.data() + static_cast<std::ptrdiff_t>(2) * i);
  }
  for (std::size_t i = 0; i < out->dry.size(); ++i) out->dry[i] = r[problem.num_unilateral + i][0];
}

}  // namespace stiction::formulations
