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

bool RowBasis::append(const double* X, int row, double tolerance, const RowFilter* filter) {
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

void RowBasis::select(const RowChoice& choice) {
  start(choice.num_rows(), choice.num_columns);
  selector_.select(choice, this);
  pack_factor();
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
  select({.X = X,
          .num_columns = num_columns,
          .group_ends = group_ends,
          .tolerance = tolerance,
          .filter = filter,
          .first_pair = group_ends.back()});
}

void RowBasis::find_with_free_axes(double* X, int num_columns, int first_pair,
                                   std::span<const int> group_ends, double tolerance,
                                   const RowFilter* filter) {
  STICTION_ASSERT(!group_ends.empty());
  select({.X = X,
          .num_columns = num_columns,
          .group_ends = group_ends,
          .tolerance = tolerance,
          .filter = filter,
          .first_pair = first_pair,
          .turnable = X});
}

void RowBasis::find_in_order(const double* X, int num_rows, int num_columns, double tolerance) {
  STICTION_ASSERT(0 <= tolerance && tolerance < 1);
  start(num_rows, num_columns);
  for (int i = 0; i < num_rows && !is_full(); ++i) {
    base::check_limits();
    append(X, i, tolerance);
  }
  pack_factor();
}

}  // namespace stiction::numerics
