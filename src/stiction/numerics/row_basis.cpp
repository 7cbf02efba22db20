#include "stiction/numerics/row_basis.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

using math::add_multiple;
using math::dot;

void RowBasis::start(int num_columns) {
  num_columns_ = num_columns;
  selected_.clear();
  basis_.clear();
  rows_of_factor_.resize(static_cast<std::size_t>(num_columns) * num_columns);
}

/// Appends what the basis leaves of a row of X, unless the row depends on it.
bool RowBasis::try_append(const double* X, int row, double tolerance) {
  const int n = num_columns_, k = rank();
  const double* x = X + static_cast<std::size_t>(row) * n;
  basis_.insert(basis_.end(), x, x + n);
  double* q = basis_.data() + static_cast<std::size_t>(k) * n;
  double* l = rows_of_factor_.data() + static_cast<std::size_t>(k) * n;
  std::fill_n(l, k, 0.0);
  // Twice is enough for orthogonality to round-off.
  for (int pass = 0; pass < 2; ++pass)
    for (int j = 0; j < k; ++j) {
      const double* qj = basis_.data() + static_cast<std::size_t>(j) * n;
      const double along = dot(n, qj, q);
      add_multiple(n, -along, qj, q);
      l[j] += along;
    }
  const double left = dot(n, q, q);
  if (!(left > tolerance * dot(n, x, x)) || !std::isfinite(left)) {
    basis_.resize(basis_.size() - n);
    return false;
  }
  l[k] = std::sqrt(left);
  for (int i = 0; i < n; ++i) q[i] /= l[k];
  selected_.push_back(row);
  return true;
}

void RowBasis::pack_factor() {
  const int k = rank();
  factor_.assign(static_cast<std::size_t>(k) * k, 0.0);
  for (int i = 0; i < k; ++i)
    std::copy_n(rows_of_factor_.data() + i * num_columns_, i + 1, factor_.data() + i * k);
}

/// The rows from `first` to `last` that the basis leaves most of, one after the other.
void RowBasis::pick_from(const double* X, int first, int last, int num_rows, double tolerance) {
  const int n = num_columns_;
  while (rank() < n) {
    int best = -1;
    double best_share = tolerance;
    for (int i = first; i < last; ++i)
      if (left_[i] > best_share * squared_[i]) {
        best = i;
        best_share = left_[i] / squared_[i];
      }
    if (best < 0) return;
    left_[best] = 0;
    if (!try_append(X, best, tolerance)) continue;
    const double* q = basis_.data() + basis_.size() - n;
    for (int i = first; i < num_rows; ++i) {
      const double along = dot(n, q, X + static_cast<std::size_t>(i) * n);
      left_[i] -= along * along;
    }
  }
}

void RowBasis::find(const double* X, int num_rows, int num_columns, int num_first,
                    double tolerance) noexcept {
  start(num_columns);
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

void RowBasis::find_in_order(const double* X, int num_rows, int num_columns,
                             double tolerance) noexcept {
  start(num_columns);
  for (int i = 0; i < num_rows && rank() < num_columns; ++i) try_append(X, i, tolerance);
  pack_factor();
}

}  // namespace stiction::numerics
