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

/// Returns the columns outside of which a row is zero. Products over them have the same bits as
/// those over all columns: the first is a multiple of four, and so is the end, unless it is n.
ColumnRange find_support(int n, const double* row) {
  int first = 0, end = n;
  while (first < n && row[first] == 0) ++first;
  while (end > 0 && row[end - 1] == 0) --end;
  return {.first = first / 4 * 4, .end = std::min((end + 3) / 4 * 4, n)};
}

ColumnRange unite(const ColumnRange& a, const ColumnRange& b) {
  return {.first = std::min(a.first, b.first), .end = std::max(a.end, b.end)};
}

/// If less than this fraction of |x|^2 is left by a projection, another one removes the round-off.
constexpr double kMuchCancels = 0.5;

}  // namespace

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
  remaining_.assign(squared_.begin(), squared_.end());
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
  remaining_cross_.assign(cross_.begin(), cross_.end());
  turns_.assign(num_pairs, {});
  is_turned_.assign(num_pairs, 0);
  along_.resize(std::max(num_rows + 3, n));  // products are written four at a time
  remainder_.resize(n);
  other_remainder_.resize(n);
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
      turn_pair(row);
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

/// Turns a pair to its principal axes.
void RowSelector::turn_pair(int row) {
  const int n = choice_.num_columns;
  const AxisTurn turn = find_turn(row);
  is_turned_[pair(row)] = 1;
  turns_[pair(row)] = turn;
  double* x = choice_.turnable + static_cast<std::size_t>(row) * n;
  for (int j = 0; j < n; ++j) {
    const double along = turn.cos * x[j] + turn.sin * x[n + j];
    x[n + j] = turn.cos * x[n + j] - turn.sin * x[j];
    x[j] = along;
  }
  const double a = remaining_[row], b = remaining_cross_[pair(row)], c = remaining_[row + 1];
  const double sum = squared_[row] + squared_[row + 1];
  for (int k = 0; k < 2; ++k) {
    const int i = row + k;
    squared_[i] = dot(n, x + k * n, x + k * n);
    remaining_[i] = calc_along(k == 0 ? turn : turn_further(turn), a, b, c);
    if (squared_[i] <= kRoundOff * kRoundOff * sum) {
      std::fill_n(x + k * n, n, 0.0);
      squared_[i] = remaining_[i] = 0;
    } else if (remaining_[i] <= kResolved * sum) {
      // The difference of larger numbers is round-off.
      remaining_[i] = project(i, &remainder_);
    }
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

void RowBasis::start(int num_rows, int num_columns) {
  num_columns_ = num_columns;
  max_rank_ = std::min(num_rows, num_columns);
  selected_.clear();
  basis_.clear();
  basis_.reserve(static_cast<std::size_t>(max_rank_) * num_columns);
  base::resize_within_limits(static_cast<std::size_t>(max_rank_) * max_rank_, &rows_of_factor_);
  row_.resize(num_columns);
}

double RowBasis::project_out(double* x, std::span<double> along) const noexcept {
  const int n = num_columns_, k = rank();
  STICTION_ASSERT(static_cast<int>(along.size()) >= k);
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

void RowBasis::project_out(double* rows, std::vector<double>* along,
                           std::span<double> squared) const {
  const int num_rows = static_cast<int>(squared.size());
  along->resize(static_cast<std::size_t>(4) * rank());
  for (int i = 0; i < num_rows; i += 4) {
    base::check_limits();
    project_out_block(std::min(4, num_rows - i), rows + static_cast<std::size_t>(i) * num_columns_,
                      along->data(), squared.data() + i);
  }
}

/// Projects up to four rows as project_out does one, with the same bits.
void RowBasis::project_out_block(int num_rows, double* rows, double* along, double* squared) const {
  const int n = num_columns_, k = rank();
  const double* const Q = basis_.data();
  double before[4], products[4];
  double* x[4] = {};
  for (int r = 0; r < num_rows; ++r) {
    x[r] = rows + static_cast<std::size_t>(r) * n;
    before[r] = dot(n, x[r], x[r]);
  }
  ColumnRange support = find_support(n, x[0]);
  for (int r = 1; r < num_rows; ++r) support = unite(support, find_support(n, x[r]));
  const double* parts[4];
  for (int r = 0; r < num_rows; ++r) parts[r] = x[r] + support.first;
  for (int j = 0; j < k; ++j) {
    math::multiply_listed_rows(num_rows, support.size(), parts,
                               Q + static_cast<std::size_t>(j) * n + support.first, products);
    for (int r = 0; r < num_rows; ++r) along[r * k + j] = products[r];
  }
  constexpr int kTile = 32;  // rows of the basis that stay in the cache
  for (int j = 0; j < k; j += kTile)
    for (int r = 0; r < num_rows; ++r)
      math::subtract_rows(std::min(kTile, k - j), n, Q + static_cast<std::size_t>(j) * n,
                          along + r * k + j, x[r]);

  int num_again = 0;
  for (int r = 0; r < num_rows; ++r) {
    squared[r] = dot(n, x[r], x[r]);
    if (!(squared[r] > kMuchCancels * before[r])) x[num_again++] = x[r];
  }
  if (num_again == 0) return;
  for (int j = 0; j < k; ++j) {
    const double* q = Q + static_cast<std::size_t>(j) * n;
    math::multiply_listed_rows(num_again, n, x, q, products);
    for (int r = 0; r < num_again; ++r) math::add_multiple(n, -products[r], q, x[r]);
  }
  for (int r = 0; r < num_rows; ++r)
    squared[r] =
        dot(n, rows + static_cast<std::size_t>(r) * n, rows + static_cast<std::size_t>(r) * n);
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
  base::fill_zeros_within_limits(static_cast<std::size_t>(k) * k, &factor_);
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
