#include "stiction/numerics/row_basis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

using math::dot;

void RowBasis::start(int num_rows, int num_columns) {
  num_columns_ = num_columns;
  max_rank_ = std::min(num_rows, num_columns);
  selected_.clear();
  basis_.clear();
  rows_of_factor_.resize(static_cast<std::size_t>(max_rank_) * max_rank_);
  along_.resize(std::max(num_rows, num_columns));
  row_.resize(num_columns);
}

double RowBasis::project_out(double* x, std::span<double> along) const noexcept {
  const int n = num_columns_, k = rank();
  // Of squares: below it a second pass takes what rounding left in the first.
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

/// Appends what the basis leaves of a row of X, unless the row depends on it.
bool RowBasis::try_append(const double* X, int row, double tolerance) {
  const int n = num_columns_, k = rank();
  const double* x = X + static_cast<std::size_t>(row) * n;
  double* l = rows_of_factor_.data() + static_cast<std::size_t>(k) * max_rank_;
  std::copy_n(x, n, row_.begin());
  const double left = project_out(row_.data(), {l, static_cast<std::size_t>(k)});
  if (!(left > tolerance * dot(n, x, x)) || !std::isfinite(left)) return false;
  l[k] = std::sqrt(left);
  for (double& q : row_) q /= l[k];
  basis_.insert(basis_.end(), row_.begin(), row_.end());
  selected_.push_back(row);
  return true;
}

void RowBasis::pack_factor() {
  const int k = rank();
  factor_.assign(static_cast<std::size_t>(k) * k, 0.0);
  for (int i = 0; i < k; ++i)
    std::copy_n(rows_of_factor_.data() + i * max_rank_, i + 1, factor_.data() + i * k);
}

/// The row with the largest share left; -1 if all depend on the basis.
int RowBasis::find_most_independent(int first, int last, double tolerance) const {
  int best = -1;
  double best_share = tolerance;
  for (int i = first; i < last; ++i)
    if (left_[i] > best_share * squared_[i]) {
      best = i;
      best_share = left_[i] / squared_[i];
    }
  return best;
}

/// What the basis leaves of rows, computed anew.
void RowBasis::resolve_left(const double* X, int first, int last, double tolerance) {
  for (int i = first; i < last; ++i) {
    if (!(left_[i] > tolerance * squared_[i])) continue;
    std::copy_n(X + static_cast<std::size_t>(i) * num_columns_, num_columns_, row_.begin());
    left_[i] = project_out(row_.data(), along_);
  }
}

/// The rows from `first` to `last` that the basis leaves most of, one after the other.
void RowBasis::pick_from(const double* X, int first, int last, int num_rows, double tolerance) {
  // Norms are updated by differences: shares below this one are round-off, and computed anew once
  // no row has more. What is left of those is so small that the differences that follow are exact
  // enough.
  constexpr double kResolved = 1e-10;
  const int n = num_columns_;
  bool is_resolved = false;
  while (rank() < max_rank_) {
    const int best = find_most_independent(first, last, tolerance);
    if (best < 0) return;
    if (left_[best] < kResolved * squared_[best] && !is_resolved) {
      resolve_left(X, first, last, tolerance);
      is_resolved = true;
      continue;
    }
    left_[best] = 0;
    if (!try_append(X, best, tolerance)) continue;
    const double* q = basis_.data() + basis_.size() - n;
    const double* rows = X + static_cast<std::size_t>(first) * n;
    math::multiply_rows(num_rows - first, n, rows, q, nullptr, along_.data());
    for (int i = first; i < num_rows; ++i) left_[i] -= along_[i - first] * along_[i - first];
    left_[best] = 0;
  }
}

void RowBasis::find(const double* X, int num_rows, int num_columns, int num_first,
                    double tolerance) {
  start(num_rows, num_columns);
  squared_.resize(num_rows);
  for (int i = 0; i < num_rows; ++i) {
    const double* x = X + static_cast<std::size_t>(i) * num_columns;
    squared_[i] = dot(num_columns, x, x);
  }
  left_.assign(squared_.begin(), squared_.end());
  pick_from(X, 0, num_first, num_rows, tolerance);
  pick_from(X, num_first, num_rows, num_rows, tolerance);
  pack_factor();
}

void RowBasis::find_in_order(const double* X, int num_rows, int num_columns, double tolerance) {
  start(num_rows, num_columns);
  for (int i = 0; i < num_rows && rank() < max_rank_; ++i) try_append(X, i, tolerance);
  pack_factor();
}

}  // namespace stiction::numerics
