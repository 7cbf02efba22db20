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
  for (int i = 0; i < num_pairs; ++i) {
    const auto [cos, sin] = basis_.turns()[i];
    double* b = b_.data() + first_pair_ + 2 * i;
    const double along = cos * b[0] + sin * b[1];
    b[1] = cos * b[1] - sin * b[0];
    b[0] = along;
  }
  // L s = -b_s
  const int rank = basis_.rank();
  const double* L = basis_.factor().data();
  s_.resize(rank);
  for (int i = 0; i < rank; ++i) {
    const double* L_i = L + i * rank;
    s_[i] = (-b_[kept()[i]] - dot(i, L_i, s_.data())) / L_i[i];
  }
}

std::array<double, 2> BilateralConstraints::direction(int row) const {
  STICTION_ASSERT(first_pair_ <= row && row < num_rows());
  const auto [cos, sin] = basis_.turns()[(row - first_pair_) / 2];
  if ((row - first_pair_) % 2 == 0) return {cos, sin};
  return {-sin, cos};
}

void BilateralConstraints::project_rows(const std::vector<double>& rows,
                                        const std::vector<double>& b,
                                        const numerics::RowFilter* filter,
                                        std::vector<double>* projected,
                                        std::vector<double>* b_projected) {
  STICTION_ASSERT(rows.size() == b.size() * num_columns_);
  *projected = rows;
  *b_projected = b;
  const int rank = basis_.rank();
  is_zero_.assign(b.size(), 0);
  if (rank == 0 && !filter) return;
  along_.resize(rank);
  for (std::size_t i = 0; i < b.size(); ++i) {
    base::check_limits();
    double* row = projected->data() + i * num_columns_;
    const double before = dot(num_columns_, row, row);
    const double left = basis_.project_out(row, along_);
    (*b_projected)[i] += dot(rank, along_.data(), s_.data());
    const std::span<const double> remainder(row, num_columns_);
    const bool is_dependent =
        left <= rank_tolerance_ * before ||
        (filter && filter->is_dependent(static_cast<int>(i), before, remainder, basis_));
    if (!is_dependent) continue;
    std::fill_n(row, num_columns_, 0.0);
    is_zero_[i] = 1;
  }
}

int BilateralConstraints::project_unilateral_rows(const std::vector<double>& rows,
                                                  const std::vector<double>& b,
                                                  const numerics::RowFilter* filter,
                                                  std::vector<double>* projected,
                                                  std::vector<double>* b_projected) {
  project_rows(rows, b, filter, projected, b_projected);
  int forced = -1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!is_zero_[i]) continue;
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
