#include "stiction/formulations/rigid/whitening.hpp"

#include <algorithm>
#include <cstddef>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "stiction/base/work_limits.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

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

/// A vector m that explains a row r best, |r - G^T m|, by its normal equations K m = h.
struct Lever {
  double squared = 0;    // |m|^2 [m^2]
  double explained = 0;  // |G^T m|^2
};

/// @param floor a direction in which K is below it cannot be turned and gets no lever
Lever find_lever(const Eigen::Matrix3d& K, const Eigen::Vector3d& h, double floor) {
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> axes;
  axes.compute(K);  // computeDirect calls the C library's sin and cos, whose bits differ
  Lever lever;
  for (int k = 0; k < 3; ++k) {
    const double value = axes.eigenvalues()[k];
    if (!(value > floor)) continue;
    const double along = axes.eigenvectors().col(k).dot(h);
    lever.squared += along * along / (value * value);
    lever.explained += along * along / value;
  }
  return lever;
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

void ContactLevers::assemble(const RigidTerms& terms, const Whitening& whitening) {
  num_columns_ = terms.num_dofs();
  place_of_contact_.clear();
  squared_spins_.clear();
  spins_.clear();
  int num_pairs = 0;
  for (int i = 0; i < terms.num_contacts(); ++i)
    num_pairs += i == 0 || terms.pairs[i] != terms.pairs[i - 1];
  spins_.reserve(static_cast<std::size_t>(3) * num_pairs * num_columns_);
  for (int i = 0; i < terms.num_contacts(); ++i) {
    base::check_limits();
    if (i == 0 || terms.pairs[i] != terms.pairs[i - 1]) whiten_pair(terms, i, whitening);
    place_of_contact_.push_back(static_cast<int>(squared_spins_.size()) - 1);
  }
}

/// Appends the whitened rows of the relative angular velocity of a contact's bodies.
void ContactLevers::whiten_pair(const RigidTerms& terms, int contact, const Whitening& whitening) {
  const contact::ContactProblem& problem = *terms.problem;
  const contact::BodyPair& pair = problem.pairs[terms.pairs[contact]];
  const std::span<const int> dofs = terms.contact_jacobian(contact).dofs;
  const auto n = static_cast<std::size_t>(num_columns_);
  const std::size_t first = spins_.size();
  spins_.resize(first + 3 * n, 0.0);
  double* const rows = spins_.data() + first;
  std::size_t k = 0;
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s)
    contact::for_each_column(problem, problem.segments[s], [&](int, const double* column) {
      for (int r = 0; r < 3; ++r) rows[r * n + dofs[k]] += column[r];
      ++k;
    });
  STICTION_ASSERT(k == dofs.size());
  double squared = 0;
  for (int r = 0; r < 3; ++r) {
    whitening.whiten(rows + r * n);
    squared += math::dot(num_columns_, rows + r * n, rows + r * n);
  }
  squared_spins_.push_back(squared);
}

double ContactLevers::calc_spin(int contact, std::span<const double> y) const {
  STICTION_ASSERT(static_cast<int>(y.size()) == num_columns_);
  const double* rows =
      spins_.data() + static_cast<std::size_t>(3) * place_of_contact_[contact] * num_columns_;
  double w[3];
  math::multiply_rows(3, num_columns_, rows, y.data(), nullptr, w);
  return math::hypot(w[0], w[1], w[2]);
}

bool ContactLevers::is_short(int contact, double reach, double squared,
                             std::span<const double> remainder,
                             const numerics::RowBasis& basis) const {
  STICTION_ASSERT(0 <= contact && contact < static_cast<int>(place_of_contact_.size()));
  STICTION_ASSERT(static_cast<int>(remainder.size()) == num_columns_);
  const double left = math::dot(num_columns_, remainder.data(), remainder.data());
  const int place = place_of_contact_[contact];
  const double rest =
      kRankTolerance * squared + kSumRoundOff * kSumRoundOff * squared_spins_[place];
  // A projection makes the rows of the angular velocity shorter, and a short lever with them.
  if (left > reach * reach * squared_spins_[place] + rest) return false;

  // The projected rows of the angular velocity.
  const auto n = static_cast<std::size_t>(num_columns_);
  const double* const spins = spins_.data() + 3 * place * n;
  rows_.assign(spins, spins + 3 * n);
  double squares[3];
  basis.project_out(rows_.data(), &along_, squares);
  Eigen::Matrix3d K;
  Eigen::Vector3d h;
  for (int r = 0; r < 3; ++r) {
    const double* row = rows_.data() + r * n;
    for (int c = 0; c < 3; ++c) K(r, c) = math::dot(num_columns_, row, rows_.data() + c * n);
    h[r] = math::dot(num_columns_, row, remainder.data());
  }
  const Lever lever = find_lever(K, h, kRankTolerance * squared_spins_[place]);
  return lever.squared <= reach * reach && left - lever.explained <= rest;
}

}  // namespace stiction::formulations
