#include "stiction/numerics/row_basis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

using math::dot;

void RowBasis::start(int num_rows, int num_columns) {
  num_columns_ = num_columns;
  max_rank_ = std::min(num_rows, num_columns);
  selected_.clear();
  basis_.clear();
  basis_.reserve(static_cast<std::size_t>(max_rank_) * num_columns);
  rows_of_factor_.resize(static_cast<std::size_t>(max_rank_) * max_rank_);
  along_.resize(std::max(num_rows, num_columns));
  row_.resize(num_columns);
}

double RowBasis::project_out(double* x, std::span<double> along) const noexcept {
  const int n = num_columns_, k = rank();
  STICTION_ASSERT(static_cast<int>(along.size()) >= k);
  // If less than this fraction of |x|^2 remains, a second pass removes the round-off of the first.
  constexpr double kMuchCancels = 0.5;
  const double before = dot(n, x, x);
  math::multiply_rows(k, n, basis_.data(), x, nullptr, along.data());
  math::subtract_rows(k, n, basis_.data(), along.data(), x);
  const double left = dot(n, x, x);
  if (left > kMuchCancels * before) return left;
  for (int j = 0; j < k; ++j) {
    const double* q = basis_.data() + static_cast<std::size_t>(j) * n;
    const double again = dot(n, q, x);
    math::add_multiple(n, -again, q, x);
    along[j] += again;
  }
  return dot(n, x, x);
}

/// Appends the normalized part of a row of X that is orthogonal to the basis.
/// @return false if the row depends on the basis or is not finite
bool RowBasis::try_append(const double* X, int row, double tolerance, const RowFilter* filter) {
  const int n = num_columns_, k = rank();
  const double* x = X + static_cast<std::size_t>(row) * n;
  double* l = rows_of_factor_.data() + static_cast<std::size_t>(k) * max_rank_;
  std::copy_n(x, n, row_.begin());
  const double left = project_out(row_.data(), {l, static_cast<std::size_t>(k)});
  const double squared = dot(n, x, x);
  if (!(left > tolerance * squared) || !std::isfinite(left)) return false;
  if (filter && filter->is_dependent(row, squared, row_, *this)) return false;
  l[k] = std::sqrt(left);
  for (double& q : row_) q /= l[k];
  basis_.insert(basis_.end(), row_.begin(), row_.end());
  selected_.push_back(row);
  return true;
}

/// Copies the rows of L to a matrix of size rank x rank.
void RowBasis::pack_factor() {
  const int k = rank();
  factor_.assign(static_cast<std::size_t>(k) * k, 0.0);
  for (int i = 0; i < k; ++i)
    std::copy_n(rows_of_factor_.data() + i * max_rank_, i + 1, factor_.data() + i * k);
}

/// Returns the row in [first, last) of which the largest fraction is orthogonal to the basis; -1 if
/// all rows depend on it.
int RowBasis::find_most_independent(int first, int last, double tolerance) const {
  int best = -1;
  double best_fraction = tolerance;
  for (int i = first; i < last; ++i)
    if (remaining_[i] > best_fraction * squared_[i]) {
      best = i;
      best_fraction = remaining_[i] / squared_[i];
    }
  return best;
}

/// Recomputes remaining_ of the independent rows in [first, last) by projection.
void RowBasis::recompute_remaining(const double* X, int first, int last, double tolerance) {
  for (int i = first; i < last; ++i) {
    if (!(remaining_[i] > tolerance * squared_[i])) continue;
    base::check_limits();
    std::copy_n(X + static_cast<std::size_t>(i) * num_columns_, num_columns_, row_.begin());
    remaining_[i] = project_out(row_.data(), along_);
  }
}

/// Selects rows in [first, last), the most independent one first, until the others depend on them.
void RowBasis::pick_from(const double* X, int first, int last, int num_rows, double tolerance,
                         const RowFilter* filter) {
  // The squared norms in remaining_ are updated by differences, so fractions below kResolved are
  // round-off. Once no row has a larger fraction, remaining_ is recomputed. Its entries are then so
  // small that the differences that follow are accurate enough.
  constexpr double kResolved = 1e-10;
  const int n = num_columns_;
  bool is_resolved = false;
  while (rank() < max_rank_) {
    base::check_limits();
    const int best = find_most_independent(first, last, tolerance);
    if (best < 0) return;
    if (remaining_[best] < kResolved * squared_[best] && !is_resolved) {
      recompute_remaining(X, first, last, tolerance);
      is_resolved = true;
      continue;
    }
    remaining_[best] = 0;
    if (!try_append(X, best, tolerance, filter)) continue;
    const double* q = basis_.data() + basis_.size() - n;
    const double* rows = X + static_cast<std::size_t>(first) * n;
    math::multiply_rows(num_rows - first, n, rows, q, nullptr, along_.data());
    for (int i = first; i < num_rows; ++i) remaining_[i] -= along_[i - first] * along_[i - first];
    remaining_[best] = 0;
  }
}

void RowBasis::find(const double* X, int num_rows, int num_columns, int num_first,
                    double tolerance) {
  STICTION_ASSERT(0 <= num_first && num_first <= num_rows);
  const int group_ends[] = {num_first, num_rows};
  find(X, num_columns, group_ends, tolerance, nullptr);
}

void RowBasis::find(const double* X, int num_columns, std::span<const int> group_ends,
                    double tolerance, const RowFilter* filter) {
  STICTION_ASSERT(!group_ends.empty());
  STICTION_ASSERT(0 <= tolerance && tolerance < 1);
  const int num_rows = group_ends.back();
  start(num_rows, num_columns);
  squared_.resize(num_rows);
  for (int i = 0; i < num_rows; ++i) {
    const double* x = X + static_cast<std::size_t>(i) * num_columns;
    squared_[i] = dot(num_columns, x, x);
  }
  remaining_.assign(squared_.begin(), squared_.end());
  int first = 0;
  for (const int end : group_ends) {
    STICTION_ASSERT(first <= end);
    pick_from(X, first, end, num_rows, tolerance, filter);
    first = end;
  }
  pack_factor();
}

void RowBasis::find_in_order(const double* X, int num_rows, int num_columns, double tolerance) {
  STICTION_ASSERT(0 <= tolerance && tolerance < 1);
  start(num_rows, num_columns);
  for (int i = 0; i < num_rows && rank() < max_rank_; ++i) {
    base::check_limits();
    try_append(X, i, tolerance);
  }
  pack_factor();
}

}  // namespace stiction::numerics
