#include "stiction/formulations/rigid/bilateral_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using math::dot;

void BilateralConstraints::start(int num_columns, int max_rows) {
  STICTION_ASSERT(num_columns >= 0);
  num_columns_ = num_columns;
  X_.clear();
  X_.reserve(static_cast<std::size_t>(max_rows) * num_columns);
  b_.clear();
}

void BilateralConstraints::add(std::span<const double> rows, std::span<const double> b) {
  STICTION_ASSERT(rows.size() == b.size() * num_columns_);
  X_.insert(X_.end(), rows.begin(), rows.end());
  b_.insert(b_.end(), b.begin(), b.end());
}

void BilateralConstraints::eliminate(std::span<const int> group_ends, double rank_tolerance,
                                     const numerics::RowFilter* filter, int num_pairs) {
  STICTION_ASSERT(!group_ends.empty() && group_ends.back() == num_rows());
  rank_tolerance_ = rank_tolerance;
  first_pair_ = num_rows() - 2 * num_pairs;
  basis_.find_with_free_axes(X_.data(), num_columns_, first_pair_, group_ends, rank_tolerance,
                             filter);
  solve_constants();
}

void BilateralConstraints::set_constants(std::span<const double> first,
                                         std::span<const double> others) {
  STICTION_ASSERT(static_cast<int>(first.size() + others.size()) == num_rows());
  b_.assign(first.begin(), first.end());
  b_.insert(b_.end(), others.begin(), others.end());
  solve_constants();
}

/// Turns the constants of pairs, and solves L s = -b_s.
void BilateralConstraints::solve_constants() {
  for (int row = first_pair_; row < num_rows(); row += 2) {
    const auto [cos, sin] = basis_.turns()[(row - first_pair_) / 2];
    const double x = b_[row], y = b_[row + 1];
    b_[row] = cos * x + sin * y;
    b_[row + 1] = cos * y - sin * x;
  }
  const int rank = basis_.rank();
  const double* L = basis_.factor().data();
  s_.resize(rank);
  y_s_.assign(num_columns_, 0.0);
  for (int i = 0; i < rank; ++i) {
    const double* L_i = L + i * rank;
    s_[i] = (-b_[kept()[i]] - dot(i, L_i, s_.data())) / L_i[i];
    math::add_multiple(num_columns_, s_[i],
                       basis_.basis().data() + static_cast<std::size_t>(i) * num_columns_,
                       y_s_.data());
  }
}

std::array<double, 2> BilateralConstraints::direction(int row) const {
  STICTION_ASSERT(first_pair_ <= row && row < num_rows());
  const auto [cos, sin] = basis_.turns()[(row - first_pair_) / 2];
  if ((row - first_pair_) % 2 == 0) return {cos, sin};
  return {-sin, cos};
}

void BilateralConstraints::project_rows(const std::vector<double>& rows,
                                        const numerics::RowFilter* filter,
                                        std::vector<double>* projected) {
  const int rank = basis_.rank();
  if (rank == num_columns_) {  // every row depends on constraints that leave no freedom
    projected->assign(rows.size(), 0.0);
    return;
  }
  *projected = rows;
  if (rank == 0 && !filter) return;
  along_.resize(rank);
  for (std::size_t i = 0; i * num_columns_ < rows.size(); ++i) {
    base::check_limits();
    double* row = projected->data() + i * num_columns_;
    const double before = dot(num_columns_, row, row);
    const double left = basis_.project_out(row, along_);
    const std::span<const double> remainder(row, num_columns_);
    const bool is_dependent =
        left <= rank_tolerance_ * before ||
        (filter && filter->is_dependent(static_cast<int>(i), before, remainder, basis_));
    if (is_dependent) std::fill_n(row, num_columns_, 0.0);
  }
}

void BilateralConstraints::project_constants(const std::vector<double>& rows,
                                             const std::vector<double>& b,
                                             std::vector<double>* b_projected) const {
  STICTION_ASSERT(rows.size() == b.size() * num_columns_);
  *b_projected = b;
  if (basis_.rank() == 0) return;
  for (std::size_t i = 0; i < b.size(); ++i)
    (*b_projected)[i] += dot(num_columns_, rows.data() + i * num_columns_, y_s_.data());
}

int BilateralConstraints::open_dependent_rows(const std::vector<double>& rows,
                                              const std::vector<double>& projected,
                                              const numerics::RowFilter* filter,
                                              std::vector<double>* b_projected) const {
  int forced = -1;
  for (std::size_t i = 0; i < b_projected->size(); ++i) {
    const double* left = projected.data() + i * num_columns_;
    if (dot(num_columns_, left, left) > 0) continue;
    // Nothing moves a row that depends on no rows at all, so it does not conflict with constraints.
    const std::span<const double> row(rows.data() + i * num_columns_, num_columns_);
    const double squared = dot(num_columns_, row.data(), row.data());
    const bool is_moved =
        squared > 0 && !(filter && filter->is_dependent(static_cast<int>(i), squared, row, {}));
    if (is_moved && (*b_projected)[i] < -kMissedVelocity) forced = static_cast<int>(i);
    (*b_projected)[i] = std::max(0.0, (*b_projected)[i]);
  }
  return forced;
}

std::span<const double> BilateralConstraints::satisfy(double* y) {
  const int rank = basis_.rank();
  const double* Q = basis_.basis().data();
  impulses_.assign(rank, 0.0);
  // y += Q^T (s - Q y). The second pass removes the round-off of the first.
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < rank; ++k) {
      const double* q = Q + static_cast<std::size_t>(k) * num_columns_;
      const double step = s_[k] - dot(num_columns_, q, y);
      impulses_[k] += step;
      math::add_multiple(num_columns_, step, q, y);
    }
  along_basis_ = impulses_;
  // From impulses along Q to those along X_s: X_s^T f = Q^T L^T f.
  const double* L = basis_.factor().data();
  for (int i = rank - 1; i >= 0; --i) {
    impulses_[i] /= L[i * rank + i];
    for (int k = 0; k < i; ++k) impulses_[k] -= L[i * rank + k] * impulses_[i];
  }
  return impulses_;
}

double BilateralConstraints::calc_largest_impulse() const {
  const int rank = basis_.rank();
  STICTION_ASSERT(static_cast<int>(impulses_.size()) == rank);
  double largest = 0;
  for (int i = 0; i < rank; ++i) {
    const double* L_i = basis_.factor().data() + i * rank;
    const double norm =
        std::sqrt(dot(i + 1, L_i, L_i));  // |X_i|, because rows of Q are orthonormal
    largest = std::max(largest, norm * std::abs(impulses_[i]));
  }
  return largest;
}

}  // namespace stiction::formulations
