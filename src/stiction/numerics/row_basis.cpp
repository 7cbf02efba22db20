#include "stiction/numerics/row_basis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

using math::dot;

namespace {

/// Round-off of a turned row, relative to the pair.
constexpr double kRoundOff = 1e-13;

/// Squared norms in remaining_ are updated by differences, so that shares below this one are
/// round-off.
constexpr double kResolved = 1e-10;

/// Returns the value of the form [a b; b c] along the first axis.
double calc_along(const AxisTurn& turn, double a, double b, double c) {
  return turn.cos * turn.cos * a + 2 * turn.cos * turn.sin * b + turn.sin * turn.sin * c;
}

/// Returns the turn to the principal axes of [a b; b c], the larger one first. If the values along
/// both are equal within round-off, the axes stay.
AxisTurn find_principal_axes(double a, double b, double c) {
  constexpr double kEqual = 1e-12;
  const double difference = 0.5 * (a - c);
  const double radius = std::sqrt(difference * difference + b * b);
  if (!(radius > kEqual * (a + c))) return {};
  const double larger = std::sqrt(0.5 * (1 + std::abs(difference) / radius));
  const double smaller = 0.5 * b / (radius * larger);  // half the sine of the double angle
  if (difference >= 0) return {.cos = larger, .sin = smaller};
  return b < 0 ? AxisTurn{.cos = -smaller, .sin = -larger}
               : AxisTurn{.cos = smaller, .sin = larger};
}

}  // namespace

void RowBasis::start(int num_rows, int num_columns) {
  num_columns_ = num_columns;
  max_rank_ = std::min(num_rows, num_columns);
  selected_.clear();
  turns_.clear();
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

/// Returns true if the row is the first one of a pair whose axes are still free.
bool RowBasis::is_free_pair(int row) const {
  const int i = row - first_pair_;
  return i >= 0 && i % 2 == 0 && !is_turned_[i / 2];
}

/// Returns the turn of a pair to the axes along which most and least is orthogonal to the basis.
AxisTurn RowBasis::find_turn(int row) const {
  const double cross = remaining_cross_[(row - first_pair_) / 2];
  return find_principal_axes(remaining_[row], cross, remaining_[row + 1]);
}

/// Returns the larger one of the shares of these two axes that are orthogonal to the basis.
double RowBasis::calc_pair_share(int row) const {
  const int pair = (row - first_pair_) / 2;
  const AxisTurn turn = find_turn(row), normal = {.cos = -turn.sin, .sin = turn.cos};
  double largest = 0;
  for (const AxisTurn& axis : {turn, normal}) {
    const double squared = calc_along(axis, squared_[row], cross_[pair], squared_[row + 1]);
    const double left =
        calc_along(axis, remaining_[row], remaining_cross_[pair], remaining_[row + 1]);
    // A row of which only round-off is left by the turn has no share.
    if (squared > kRoundOff * (squared_[row] + squared_[row + 1]))
      largest = std::max(largest, left / squared);
  }
  return largest;
}

/// Returns the row or pair in [first, last) of which the largest share is orthogonal to the basis;
/// no row if all depend on it.
RowBasis::Candidate RowBasis::find_most_independent(int first, int last, double tolerance) const {
  Candidate best{.row = -1, .share = tolerance};
  for (int i = first; i < last; ++i) {
    const bool is_pair = is_free_pair(i);
    const double share = is_pair             ? calc_pair_share(i)
                         : remaining_[i] > 0 ? remaining_[i] / squared_[i]
                                             : 0;
    if (share > best.share) best = {.row = i, .share = share};
    i += is_pair;
  }
  return best;
}

/// Turns a pair to its principal axes.
void RowBasis::turn_pair(double* rows, int row) {
  const int n = num_columns_, pair = (row - first_pair_) / 2;
  const AxisTurn turn = find_turn(row);
  is_turned_[pair] = 1;
  turns_[pair] = turn;
  double* x = rows + static_cast<std::size_t>(row) * n;
  for (int j = 0; j < n; ++j) {
    const double along = turn.cos * x[j] + turn.sin * x[n + j];
    x[n + j] = turn.cos * x[n + j] - turn.sin * x[j];
    x[j] = along;
  }
  const double a = remaining_[row], b = remaining_cross_[pair], c = remaining_[row + 1];
  const double sum = squared_[row] + squared_[row + 1];
  for (int k = 0; k < 2; ++k) {
    const AxisTurn axis = k == 0 ? turn : AxisTurn{.cos = -turn.sin, .sin = turn.cos};
    const int i = row + k;
    squared_[i] = dot(n, x + k * n, x + k * n);
    remaining_[i] = calc_along(axis, a, b, c);
    if (squared_[i] <= kRoundOff * kRoundOff * sum) {
      std::fill_n(x + k * n, n, 0.0);
      squared_[i] = remaining_[i] = 0;
    } else if (remaining_[i] <= kResolved * sum) {
      // The difference of larger numbers is round-off.
      std::copy_n(x + k * n, n, row_.begin());
      remaining_[i] = project_out(row_.data(), along_);
    }
  }
}

/// Recomputes remaining_ of the independent rows in [first, last) by projection.
void RowBasis::recompute_remaining(const double* X, int first, int last, double tolerance) {
  const auto n = static_cast<std::size_t>(num_columns_);
  for (int i = first; i < last; ++i) {
    const bool is_pair = is_free_pair(i);
    const bool is_independent =
        is_pair ? calc_pair_share(i) > tolerance : remaining_[i] > tolerance * squared_[i];
    if (is_independent) {
      base::check_limits();
      std::copy_n(X + i * n, n, row_.begin());
      remaining_[i] = project_out(row_.data(), along_);
    }
    if (is_pair) {
      ++i;
      if (!is_independent) continue;
      std::copy_n(X + i * n, n, other_row_.begin());
      remaining_[i] = project_out(other_row_.data(), along_);
      remaining_cross_[(i - first_pair_) / 2] = dot(num_columns_, row_.data(), other_row_.data());
    }
  }
}

/// Appends a row, unless it depends on the basis, and removes the new direction from remaining_.
void RowBasis::select(const double* X, int row, int first, int num_rows, double tolerance,
                      const RowFilter* filter) {
  const int n = num_columns_;
  remaining_[row] = 0;
  if (!try_append(X, row, tolerance, filter)) return;
  const double* q = basis_.data() + basis_.size() - n;
  const double* rows = X + static_cast<std::size_t>(first) * n;
  math::multiply_rows(num_rows - first, n, rows, q, nullptr, along_.data());
  for (int i = first; i < num_rows; ++i) remaining_[i] -= along_[i - first] * along_[i - first];
  for (int i = std::max(first, first_pair_); i < num_rows; i += 2)
    remaining_cross_[(i - first_pair_) / 2] -= along_[i - first] * along_[i + 1 - first];
  remaining_[row] = 0;
}

/// Selects both rows of a pair that was just turned if about as much is left of both, and the one
/// with the larger share otherwise.
void RowBasis::select_pair(const double* X, int row, int first, int num_rows, double tolerance,
                           const RowFilter* filter) {
  const int other = row + 1;
  if (remaining_[other] >= 0.5 * remaining_[row]) {
    select(X, row, first, num_rows, tolerance, filter);
    if (rank() < max_rank_) select(X, other, first, num_rows, tolerance, filter);
    return;
  }
  const bool is_first = remaining_[row] * squared_[other] >= remaining_[other] * squared_[row];
  select(X, is_first ? row : other, first, num_rows, tolerance, filter);
}

/// Selects rows in [first, last), the most independent one first, until the others depend on them.
/// @param pairs X, or null if there are no pairs
void RowBasis::pick_from(const double* X, double* pairs, int first, int last, int num_rows,
                         double tolerance, const RowFilter* filter) {
  // Once no row has a larger share than kResolved, remaining_ is recomputed. Its entries are then
  // so small that the differences that follow are accurate enough.
  bool is_resolved = false;
  while (rank() < max_rank_) {
    base::check_limits();
    const Candidate best = find_most_independent(first, last, tolerance);
    if (best.row < 0) return;
    if (best.share < kResolved && !is_resolved) {
      recompute_remaining(X, first, last, tolerance);
      is_resolved = true;
      continue;
    }
    if (is_free_pair(best.row)) {
      turn_pair(pairs, best.row);
      select_pair(X, best.row, first, num_rows, tolerance, filter);
    } else {
      select(X, best.row, first, num_rows, tolerance, filter);
    }
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
  start(group_ends.back(), num_columns);
  start_pairs(X, group_ends.back(), group_ends.back());
  pick_groups(X, nullptr, group_ends, tolerance, filter);
}

void RowBasis::find_with_free_axes(double* X, int num_columns, int first_pair,
                                   std::span<const int> group_ends, double tolerance,
                                   const RowFilter* filter) {
  STICTION_ASSERT(!group_ends.empty());
  STICTION_ASSERT(first_pair <= group_ends.back() && (group_ends.back() - first_pair) % 2 == 0);
  start(group_ends.back(), num_columns);
  start_pairs(X, first_pair, group_ends.back());
  pick_groups(X, X, group_ends, tolerance, filter);
}

void RowBasis::start_pairs(const double* X, int first_pair, int num_rows) {
  const int num_pairs = (num_rows - first_pair) / 2;
  first_pair_ = first_pair;
  turns_.assign(num_pairs, {});
  is_turned_.assign(num_pairs, 0);
  other_row_.resize(num_columns_);
  cross_.resize(num_pairs);
  for (int i = 0; i < num_pairs; ++i) {
    const double* x = X + static_cast<std::size_t>(first_pair + 2 * i) * num_columns_;
    cross_[i] = dot(num_columns_, x, x + num_columns_);
  }
  remaining_cross_.assign(cross_.begin(), cross_.end());
}

void RowBasis::pick_groups(const double* X, double* pairs, std::span<const int> group_ends,
                           double tolerance, const RowFilter* filter) {
  STICTION_ASSERT(0 <= tolerance && tolerance < 1);
  const int num_rows = group_ends.back();
  squared_.resize(num_rows);
  for (int i = 0; i < num_rows; ++i) {
    const double* x = X + static_cast<std::size_t>(i) * num_columns_;
    squared_[i] = dot(num_columns_, x, x);
  }
  remaining_.assign(squared_.begin(), squared_.end());
  int first = 0;
  for (const int end : group_ends) {
    STICTION_ASSERT(first <= end);
    pick_from(X, pairs, first, end, num_rows, tolerance, filter);
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
