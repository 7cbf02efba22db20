#include "stiction/numerics/row_selector.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::numerics {

using math::dot;

namespace {

/// Round-off of a turned row, relative to the pair.
constexpr double kRoundOff = 1e-13;

/// Remainders are updated by differences, so that shares of squares below this are round-off.
constexpr double kResolved = 1e-10;

/// Returns the value of the form [a b; b c] along the first axis.
double calc_along(const AxisTurn& turn, double a, double b, double c) {
  return turn.cos * turn.cos * a + 2 * turn.cos * turn.sin * b + turn.sin * turn.sin * c;
}

/// Returns the turn whose first axis is the second one of another turn.
AxisTurn turn_further(const AxisTurn& turn) { return {.cos = -turn.sin, .sin = turn.cos}; }

/// Returns the turn to the principal axes of [a b; b c], the larger first; none if both are equal.
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

void turn_rows(const AxisTurn& turn, int n, double* x, double* y) {
  for (int j = 0; j < n; ++j) {
    const double along = turn.cos * x[j] + turn.sin * y[j];
    y[j] = turn.cos * y[j] - turn.sin * x[j];
    x[j] = along;
  }
}

ColumnRange find_support(int n, const double* row) {
  int first = 0, end = n;
  while (first < n && row[first] == 0) ++first;
  while (end > 0 && row[end - 1] == 0) --end;
  return {.first = first / 4 * 4, .end = std::min((end + 3) / 4 * 4, n)};
}

ColumnRange unite(const ColumnRange& a, const ColumnRange& b) {
  return {.first = std::min(a.first, b.first), .end = std::max(a.end, b.end)};
}

const double* RowChoice::row(int i) const { return X + static_cast<std::size_t>(i) * num_columns; }

void RowSelector::select(const RowChoice& choice, RowBasis* basis) {
  STICTION_ASSERT(0 <= choice.tolerance && choice.tolerance < 1);
  STICTION_ASSERT(choice.first_pair <= choice.num_rows());
  STICTION_ASSERT((choice.num_rows() - choice.first_pair) % 2 == 0);
  choice_ = choice;
  basis_ = basis;
  start();
  int first = 0;
  for (const int end : choice.group_ends) {
    STICTION_ASSERT(first <= end);
    select_group(first, end);
    first = end;
  }
  choice_ = {};  // the caller's rows and groups may end here
  basis_ = nullptr;
}

void RowSelector::start() {
  const int n = choice_.num_columns, num_rows = choice_.num_rows();
  const int num_pairs = (num_rows - choice_.first_pair) / 2;
  squared_.resize(num_rows);
  for (int i = 0; i < num_rows; ++i) squared_[i] = dot(n, choice_.row(i), choice_.row(i));
  supports_.resize(num_rows);
  for (int i = 0; i < num_rows; ++i) supports_[i] = find_support(n, choice_.row(i));
  cross_.resize(num_pairs);
  for (int i = 0; i < num_pairs; ++i) {
    const double* x = choice_.row(choice_.first_pair + 2 * i);
    cross_[i] = dot(n, x, x + n);
    // A pair that is turned has the columns of both.
    ColumnRange* const supports = supports_.data() + choice_.first_pair + 2 * i;
    supports[0] = supports[1] = unite(supports[0], supports[1]);
  }
  turn_kept_pairs();
  remaining_.assign(squared_.begin(), squared_.end());
  remaining_cross_.assign(cross_.begin(), cross_.end());
  along_.resize(std::max(num_rows + 3, n));  // products are written four at a time
  remainder_.resize(n);
  other_remainder_.resize(n);
  if (basis_->rank() == 0) return;
  for (const int row : basis_->selected()) remaining_[row] = 0;
  recompute_remaining(0, num_rows);
}

/// Turns the pairs of the rows that are in the basis already as they were turned before.
void RowSelector::turn_kept_pairs() {
  last_turns_ = turns_;  // a swap would make the memory of both grow in turn
  turns_.assign(cross_.size(), {});
  is_turned_.assign(cross_.size(), 0);
  for (const int row : basis_->selected()) {
    if (row < choice_.first_pair || is_turned_[pair(row)]) continue;
    turn_pair(choice_.first_pair + 2 * pair(row), last_turns_[choice_.last_pairs[pair(row)]]);
  }
}

/// Selects rows in [first, last) until the others depend on them.
void RowSelector::select_group(int first, int last) {
  // Once all shares are below kResolved, new remainders make later differences accurate.
  bool is_resolved = false;
  while (!basis_->is_full()) {
    base::check_limits();
    const int row = find_most_independent(first, last);
    if (row < 0) return;
    if (calc_share(row) < kResolved && !is_resolved) {
      recompute_remaining(first, last);
      is_resolved = true;
      continue;
    }
    if (is_free_pair(row)) {
      turn_to_principal_axes(row);
      select_of_pair(row, first);
    } else {
      select_row(row, first);
    }
  }
}

/// Returns the row, or the first row of the free pair, in [first, last) with the largest share; -1
/// if all depend on the basis. Of those with equal shares it is the longest one: before anything is
/// selected, all shares are 1, and the order of the rows must not decide.
int RowSelector::find_most_independent(int first, int last) const {
  constexpr double kEqual = 1e-12;
  int best = -1;
  double largest = choice_.tolerance, longest = 0;
  for (int i = first; i < last; i += width(i)) {
    const double share = calc_share(i);
    if (!(share > choice_.tolerance)) continue;
    const double squared = calc_squared(i);
    const bool is_equal = std::abs(share - largest) <= kEqual * largest;
    if (best >= 0 && (is_equal ? !(squared > longest) : share < largest)) continue;
    best = i;
    largest = std::max(largest, share);
    longest = squared;
  }
  return best;
}

/// Returns the squared norm of a row, or of both rows of a free pair.
double RowSelector::calc_squared(int row) const {
  return is_free_pair(row) ? squared_[row] + squared_[row + 1] : squared_[row];
}

/// Computes the remainders of the independent rows in [first, last) by projection.
void RowSelector::recompute_remaining(int first, int last) {
  for (int i = first; i < last; i += width(i)) {
    if (!(calc_share(i) > choice_.tolerance)) continue;
    base::check_limits();
    remaining_[i] = project(i, &remainder_);
    if (!is_free_pair(i)) continue;
    remaining_[i + 1] = project(i + 1, &other_remainder_);
    remaining_cross_[pair(i)] =
        dot(choice_.num_columns, remainder_.data(), other_remainder_.data());
  }
}

/// Appends a row unless it is dependent, and removes it from remainders from `first` on.
void RowSelector::select_row(int row, int first) {
  const int n = choice_.num_columns, num_rows = choice_.num_rows();
  remaining_[row] = 0;
  if (!basis_->append(choice_.X, row, choice_.tolerance, choice_.filter)) return;
  const double* q = basis_->basis().data() + basis_->basis().size() - n;
  multiply(first, q);
  for (int i = first; i < num_rows; ++i) remaining_[i] -= along_[i - first] * along_[i - first];
  for (int i = std::max(first, choice_.first_pair); i < num_rows; i += 2)
    remaining_cross_[pair(i)] -= along_[i - first] * along_[i + 1 - first];
  remaining_[row] = 0;
}

/// Computes the products of the rows from `first` on with q.
void RowSelector::multiply(int first, const double* q) {
  for (int i = first; i < choice_.num_rows(); i += 4) {
    const int count = std::min(4, choice_.num_rows() - i);
    ColumnRange support = supports_[i];
    for (int r = 1; r < count; ++r) support = unite(support, supports_[i + r]);
    const double* rows[4];
    for (int r = 0; r < count; ++r) rows[r] = choice_.row(i + r) + support.first;
    math::multiply_listed_rows(count, support.size(), rows, q + support.first,
                               along_.data() + (i - first));
  }
}

/// Selects both rows of a turned pair if about as much is left of both, else the larger one.
void RowSelector::select_of_pair(int row, int first) {
  constexpr double kAboutEqual = 0.5;
  const int other = row + 1;
  if (remaining_[other] >= kAboutEqual * remaining_[row]) {
    select_row(row, first);
    if (!basis_->is_full()) select_row(other, first);
    return;
  }
  const bool is_first = remaining_[row] * squared_[other] >= remaining_[other] * squared_[row];
  select_row(is_first ? row : other, first);
}

/// Turns the rows of a pair. A row of which only round-off is left becomes zero.
void RowSelector::turn_pair(int row, const AxisTurn& turn) {
  const int n = choice_.num_columns;
  is_turned_[pair(row)] = 1;
  turns_[pair(row)] = turn;
  double* x = choice_.turnable + static_cast<std::size_t>(row) * n;
  turn_rows(turn, n, x, x + n);
  const double sum = squared_[row] + squared_[row + 1];
  for (int k = 0; k < 2; ++k) {
    squared_[row + k] = dot(n, x + k * n, x + k * n);
    if (squared_[row + k] > kRoundOff * kRoundOff * sum) continue;
    std::fill_n(x + k * n, n, 0.0);
    squared_[row + k] = 0;
  }
}

/// Turns a pair to its principal axes.
void RowSelector::turn_to_principal_axes(int row) {
  const AxisTurn turn = find_turn(row);
  const double a = remaining_[row], b = remaining_cross_[pair(row)], c = remaining_[row + 1];
  const double sum = squared_[row] + squared_[row + 1];
  turn_pair(row, turn);
  for (int k = 0; k < 2; ++k) {
    const int i = row + k;
    remaining_[i] = calc_along(k == 0 ? turn : turn_further(turn), a, b, c);
    // The difference of larger numbers is round-off.
    if (remaining_[i] <= kResolved * sum) remaining_[i] = project(i, &remainder_);
  }
}

/// Returns true if the row is the first one of a pair whose axes are still free.
bool RowSelector::is_free_pair(int row) const {
  const int i = row - choice_.first_pair;
  return i >= 0 && i % 2 == 0 && !is_turned_[i / 2];
}

/// Returns the share of a row orthogonal to the basis, the larger principal one of a free pair.
double RowSelector::calc_share(int row) const {
  if (!is_free_pair(row)) return remaining_[row] > 0 ? remaining_[row] / squared_[row] : 0;
  const AxisTurn turn = find_turn(row);
  double largest = 0;
  for (const AxisTurn& axis : {turn, turn_further(turn)}) {
    const double squared = calc_along(axis, squared_[row], cross_[pair(row)], squared_[row + 1]);
    const double left =
        calc_along(axis, remaining_[row], remaining_cross_[pair(row)], remaining_[row + 1]);
    // A row of which only round-off is left by the turn has no share.
    if (squared > kRoundOff * (squared_[row] + squared_[row + 1]))
      largest = std::max(largest, left / squared);
  }
  return largest;
}

/// Returns the turn of a pair to the axes along which most and least is orthogonal to the basis.
AxisTurn RowSelector::find_turn(int row) const {
  return find_principal_axes(remaining_[row], remaining_cross_[pair(row)], remaining_[row + 1]);
}

/// Computes the part of a row that is orthogonal to the basis, and returns its squared norm.
double RowSelector::project(int row, std::vector<double>* remainder) {
  std::copy_n(choice_.row(row), choice_.num_columns, remainder->begin());
  return basis_->project_out(remainder->data(), along_);
}

}  // namespace stiction::numerics
