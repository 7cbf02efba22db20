#include "stiction/numerics/row_basis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

using math::dot;

namespace {

/// If less than this fraction of |x|^2 is left by a projection, another one removes the round-off.
constexpr double kMuchCancels = 0.5;

/// Returns how many numbers the rows of a triangular matrix of this size have.
std::size_t triangle(int size) { return static_cast<std::size_t>(size) * (size + 1) / 2; }

/// Rows of the basis that stay in the cache.
constexpr int kTile = 32;

}  // namespace

void RowBasis::clear() {
  selected_.clear();
  basis_.clear();
}

/// Keeps the selected rows that the choice has too, unless they are the fewer ones.
void RowBasis::keep(const RowChoice& choice) {
  places_.assign(selector_.turns().size(), -1);
  for (std::size_t i = 0; i < choice.last_pairs.size(); ++i)
    if (choice.last_pairs[i] >= 0) places_[choice.last_pairs[i]] = static_cast<int>(i);
  int num_kept = 0;
  for (int& row : selected_) {
    const int i = row - choice.first_pair;
    if (i >= 0) row = places_[i / 2] < 0 ? -1 : choice.first_pair + 2 * places_[i / 2] + i % 2;
    num_kept += row >= 0;
  }
  if (2 * num_kept < rank()) selected_.clear();
  for (int i = rank() - 1; i >= 0; --i) {
    base::check_limits();
    if (selected_[i] < 0) remove(i);
  }
  basis_.resize(selected_.size() * num_columns_);
}

/// Removes a selected row. Rotations of neighboring rows of the basis make L triangular again.
void RowBasis::remove(int place) {
  const int n = num_columns_, last = rank() - 1;
  rotations_.clear();
  for (int i = place; i < last; ++i) {
    // The next row of L moves up, with one number too many.
    double* l = row_.data();
    std::copy_n(rows_of_factor_.data() + triangle(i + 1), i + 2, l);
    for (int k = place; k < i; ++k) turn_rows(rotations_[k - place], 1, l + k, l + k + 1);
    const double length = math::hypot(l[i], l[i + 1]);
    const AxisTurn turn = {.cos = l[i] / length, .sin = l[i + 1] / length};
    l[i] = length;
    std::copy_n(l, i + 1, rows_of_factor_.data() + triangle(i));
    double* q = basis_.data() + static_cast<std::size_t>(i) * n;
    turn_rows(turn, n, q, q + n);
    rotations_.push_back(turn);
  }
  selected_.erase(selected_.begin() + place);
  basis_.resize(static_cast<std::size_t>(last) * n);
}

void RowBasis::start(int num_rows, int num_columns) {
  num_columns_ = num_columns;
  max_rank_ = std::min(num_rows, num_columns);
  basis_.reserve(static_cast<std::size_t>(max_rank_) * num_columns);
  rows_of_factor_.reserve(triangle(max_rank_));
  row_.resize(num_columns);
}

double RowBasis::project_out(double* x, std::span<double> along) const noexcept {
  const int n = num_columns_, k = rank();
  STICTION_ASSERT(static_cast<int>(along.size()) >= k);
  const double before = dot(n, x, x);
  math::multiply_rows(k, n, row(0), x, nullptr, along.data());
  math::subtract_rows(k, n, row(0), along.data(), x);
  const double left = dot(n, x, x);
  if (left > kMuchCancels * before) return left;
  for (int j = 0; j < k; j += kTile) {
    double again[kTile];
    const int count = std::min(kTile, k - j);
    math::multiply_rows(count, n, row(j), x, nullptr, again);
    math::subtract_rows(count, n, row(j), again, x);
    for (int i = 0; i < count; ++i) along[j + i] += again[i];
  }
  return dot(n, x, x);
}

void RowBasis::project_out(double* rows, std::vector<double>* along,
                           std::span<double> squared) const {
  const int num_rows = static_cast<int>(squared.size());
  along->resize(static_cast<std::size_t>(4) * std::max(rank(), kTile));
  for (int i = 0; i < num_rows; i += 4) {
    base::check_limits();
    project_out_block(std::min(4, num_rows - i), rows + static_cast<std::size_t>(i) * num_columns_,
                      along->data(), squared.data() + i);
  }
}

/// Projects up to four rows as project_out does one, with the same bits.
void RowBasis::project_out_block(int num_rows, double* rows, double* along, double* squared) const {
  const int n = num_columns_, k = rank();
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
    math::multiply_listed_rows(num_rows, support.size(), parts, row(j) + support.first, products);
    for (int r = 0; r < num_rows; ++r) along[r * k + j] = products[r];
  }
  for (int j = 0; j < k; j += kTile)
    for (int r = 0; r < num_rows; ++r)
      math::subtract_rows(std::min(kTile, k - j), n, row(j), along + r * k + j, x[r]);

  int num_again = 0;
  for (int r = 0; r < num_rows; ++r) {
    squared[r] = dot(n, x[r], x[r]);
    if (!(squared[r] > kMuchCancels * before[r])) x[num_again++] = x[r];
  }
  if (num_again == 0) return;
  for (int j = 0; j < k; j += kTile) {
    const int count = std::min(kTile, k - j);
    for (int i = 0; i < count; ++i) {
      math::multiply_listed_rows(num_again, n, x, row(j + i), products);
      for (int r = 0; r < num_again; ++r) along[r * kTile + i] = products[r];
    }
    for (int r = 0; r < num_again; ++r)
      math::subtract_rows(count, n, row(j), along + r * kTile, x[r]);
  }
  for (int r = 0; r < num_rows; ++r)
    squared[r] =
        dot(n, rows + static_cast<std::size_t>(r) * n, rows + static_cast<std::size_t>(r) * n);
}

bool RowBasis::append(const double* X, int row, double tolerance, const RowFilter* filter) {
  const int n = num_columns_, k = rank();
  const double* x = X + static_cast<std::size_t>(row) * n;
  rows_of_factor_.resize(triangle(k + 1));
  double* l = rows_of_factor_.data() + triangle(k);
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
    std::copy_n(rows_of_factor_.data() + triangle(i), i + 1, factor_.data() + i * k);
}

void RowBasis::select(const RowChoice& choice) {
  if (choice.last_pairs.empty())
    clear();
  else
    keep(choice);
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
                                   const RowFilter* filter, std::span<const int> last_pairs) {
  STICTION_ASSERT(!group_ends.empty());
  select({.X = X,
          .num_columns = num_columns,
          .group_ends = group_ends,
          .tolerance = tolerance,
          .filter = filter,
          .first_pair = first_pair,
          .last_pairs = last_pairs,
          .turnable = X});
}

void RowBasis::find_in_order(const double* X, int num_rows, int num_columns, double tolerance) {
  STICTION_ASSERT(0 <= tolerance && tolerance < 1);
  clear();
  start(num_rows, num_columns);
  for (int i = 0; i < num_rows && !is_full(); ++i) {
    base::check_limits();
    append(X, i, tolerance);
  }
  pack_factor();
}

}  // namespace stiction::numerics
