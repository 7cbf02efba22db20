#include "stiction/formulations/rigid/whitening.hpp"

#include <algorithm>

namespace stiction::formulations {
namespace {

/// Dofs from `first` to `last`.
struct DofRange {
  int first = 0, last = -1;
};

/// Returns the range that dofs span. It is empty if there are no dofs.
DofRange find_range(std::span<const int> dofs) {
  if (dofs.empty()) return {};
  DofRange range{.first = dofs[0], .last = dofs[0]};
  for (const int dof : dofs) {
    range.first = std::min(range.first, dof);
    range.last = std::max(range.last, dof);
  }
  return range;
}

}  // namespace

void Whitening::start(const contact::ContactProblem& problem, const contact::Islands& islands,
                      int island, std::span<const int> first_dof, int num_dofs) {
  lanes_.assign(num_dofs, math::Lanes{});
  cholesky_.start(num_dofs);
  blocks_.clear();
  // Each dof of a block is coupled to the block's first.
  for (const int block : islands.blocks(island)) {
    const int dof = first_dof[block], size = problem.block_size(block);
    blocks_.push_back({.start = problem.diagonal_start[block],
                       .row = dof,
                       .column = dof,
                       .num_rows = size,
                       .num_columns = size});
    for (int i = 0; i < size; ++i) cholesky_.widen(dof + i, dof);
  }
  // A coupling is in the rows of the later one of its two blocks.
  for (const int i : islands.couplings(island)) {
    const contact::Coupling& c = problem.couplings[i];
    const Block block{.start = c.start,
                      .row = first_dof[c.row_block],
                      .column = first_dof[c.column_block],
                      .num_rows = problem.block_size(c.row_block),
                      .num_columns = problem.block_size(c.column_block)};
    const int first = std::min(block.row, block.column);
    const int last = std::max(block.row, block.column);
    const int size = block.row > block.column ? block.num_rows : block.num_columns;
    for (int k = 0; k < size; ++k) cholesky_.widen(last + k, first);
    blocks_.push_back(block);
  }
}

void Whitening::couple(std::span<const int> dofs) {
  const int first = find_range(dofs).first;
  for (const int dof : dofs) cholesky_.widen(dof, first);
}

void Whitening::begin(const contact::ContactProblem& problem) {
  cholesky_.allocate();
  for (const Block& block : blocks_) {
    const double* A = problem.A.data() + block.start;
    for (int j = 0; j < block.num_columns; ++j)
      for (int i = 0; i < block.num_rows; ++i) {
        const int row = block.row + i, column = block.column + j;
        // Read only the lower triangle of a diagonal block.
        if (block.row == block.column && column > row) continue;
        cholesky_.at(std::max(row, column), std::min(row, column)) += A[i + j * block.num_rows];
      }
  }
}

void Whitening::whiten(const DenseJacobian<1>& J, double* row) const {
  std::fill_n(row, cholesky_.size(), 0.0);
  for (std::size_t i = 0; i < J.dofs.size(); ++i) row[J.dofs[i]] += J.columns(0, i);
  const auto [first, last] = find_range(J.dofs);
  cholesky_.solve_lower(row, first, last);
}

void Whitening::whiten(const DenseJacobian<3>& J, int first_row, double* const* rows) {
  STICTION_ASSERT(first_row == 0 || first_row == 2);
  // All three rows are solved for at once, in the lanes of a vector.
  for (std::size_t k = 0; k < J.dofs.size(); ++k) {
    const double* column = J.columns.data() + 3 * k;
    lanes_[J.dofs[k]] += math::Lanes{column[0], column[1], column[2], 0};
  }
  const auto [first, end] = find_range(J.dofs);
  const int last = cholesky_.solve_lower(lanes_.data(), first, end);

  // Four entries of each row at a time.
  const int n = cholesky_.size();
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const math::FourLanes x =
        math::transpose(lanes_[i], lanes_[i + 1], lanes_[i + 2], lanes_[i + 3]);
    if (first_row == 0) {
      math::store(rows[0] + i, x.a);
      math::store(rows[1] + i, x.b);
    }
    math::store(rows[2] + i, x.c);
  }
  for (; i < n; ++i)
    for (int r = first_row; r < 3; ++r) rows[r][i] = lanes_[i][r];
  std::fill(lanes_.begin() + first, lanes_.begin() + last + 1, math::Lanes{});
}

}  // namespace stiction::formulations
