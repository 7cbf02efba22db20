#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "stiction/math/lanes.hpp"

/// Kernels on plain vectors. They process four numbers at a time and sum in a fixed order.
namespace stiction::math {

/// Returns a^T b.
inline double dot(int n, const double* a, const double* b) {
  Vec4 sums{};
  int i = 0;
  for (; i + 4 <= n; i += 4) sums = multiply_add(load<Vec4>(a + i), load<Vec4>(b + i), sums);
  double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (; i < n; ++i) sum = multiply_add(a[i], b[i], sum);
  return sum;
}

/// Returns |x|.
inline double norm(std::span<const double> x) {
  return std::sqrt(dot(static_cast<int>(x.size()), x.data(), x.data()));
}

/// Computes y += s x.
inline void add_multiple(int n, double s, const double* x, double* y) {
  int i = 0;
  for (; i + 4 <= n; i += 4) store(y + i, multiply_add(load<Vec4>(x + i), s, load<Vec4>(y + i)));
  for (; i < n; ++i) y[i] = multiply_add(x[i], s, y[i]);
}

namespace internal {

/// Computes y = x + sum_k s_k rows_k for kGroups groups of four numbers from i on.
template <int kGroups>
inline void add_row_groups(int i, const double* x, int num_rows, const double* const* rows,
                           const double* s, double* y) {
  Vec4 sums[kGroups];
  for (int g = 0; g < kGroups; ++g) sums[g] = load<Vec4>(x + i + 4 * g);
  for (int k = 0; k < num_rows; ++k)
    for (int g = 0; g < kGroups; ++g)
      sums[g] = multiply_add(load<Vec4>(rows[k] + i + 4 * g), s[k], sums[g]);
  for (int g = 0; g < kGroups; ++g) store(y + i + 4 * g, sums[g]);
}

/// Returns the products of four rows of n numbers with x, each summed in the order of `dot`.
inline Vec4 dot_rows(int n, const double* const (&rows)[4], const double* x) {
  Vec4 sums[4] = {};
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    const Vec4 xj = load<Vec4>(x + j);
    for (int k = 0; k < 4; ++k) sums[k] = multiply_add(load<Vec4>(rows[k] + j), xj, sums[k]);
  }
  Vec4 sum = sum_each(sums[0], sums[1], sums[2], sums[3]);
  for (; j < n; ++j)
    sum = multiply_add(Vec4{rows[0][j], rows[1][j], rows[2][j], rows[3][j]}, x[j], sum);
  return sum;
}

/// Computes y += sum_k s_k rows_k of four rows.
inline void add_four_rows(int n, const double* const (&rows)[4], const double (&s)[4], double* y) {
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    Vec4 sum = load<Vec4>(y + i);
    for (int k = 0; k < 4; ++k) sum = multiply_add(load<Vec4>(rows[k] + i), s[k], sum);
    store(y + i, sum);
  }
  for (; i < n; ++i)
    for (int k = 0; k < 4; ++k) y[i] = multiply_add(rows[k][i], s[k], y[i]);
}

/// Returns the first `count` numbers of a vector, and zeros.
inline Vec4 keep_first(int count, const Vec4& x) {
  return Vec4{0, 1, 2, 3} < static_cast<double>(count) ? x : Vec4{};
}

}  // namespace internal

/// Computes y = x + sum_k s_k rows_k, where each row has n numbers.
inline void add_rows(int n, const double* x, int num_rows, const double* const* rows,
                     const double* s, double* y) {
  int i = 0;
  for (; i + 24 <= n; i += 24) internal::add_row_groups<6>(i, x, num_rows, rows, s, y);
  for (; i + 12 <= n; i += 12) internal::add_row_groups<3>(i, x, num_rows, rows, s, y);
  for (; i + 4 <= n; i += 4) internal::add_row_groups<1>(i, x, num_rows, rows, s, y);
  for (; i < n; ++i) {
    double sum = x[i];
    for (int k = 0; k < num_rows; ++k) sum = multiply_add(rows[k][i], s[k], sum);
    y[i] = sum;
  }
}

/// Computes y = A x + b, A (m x n) row-major, four rows at a time, as `dot` sums. Null b is 0.
inline void multiply_rows(int m, int n, const double* A, const double* x, const double* b,
                          double* y) {
  int i = 0;
  for (; i + 4 <= m; i += 4) {
    const Vec4 sum =
        internal::dot_rows(n, {A + i * n, A + (i + 1) * n, A + (i + 2) * n, A + (i + 3) * n}, x);
    store(y + i, b ? sum + load<Vec4>(b + i) : sum);
  }
  for (; i < m; ++i) y[i] = dot(n, A + i * n, x) + (b ? b[i] : 0);
}

/// Computes the products of m rows of n numbers with x, each summed in the order of `dot`.
/// @param y out: m numbers, and zeros up to a multiple of four
inline void multiply_listed_rows(int m, int n, const double* const* rows, const double* x,
                                 double* y) {
  for (int i = 0; i < m; i += 4) {
    // The last row stands for those beyond. Single numbers would be stored before the vector that
    // the caller loads, which is slow.
    const auto row = [&](int k) { return rows[std::min(i + k, m - 1)]; };
    const Vec4 products = internal::dot_rows(n, {row(0), row(1), row(2), row(3)}, x);
    store(y + i, internal::keep_first(m - i, products));
  }
}

/// Gathers the m numbers x[places[k]].
/// @param y out: m numbers, and zeros up to a multiple of four
inline void gather(int m, const int* places, const double* x, double* y) {
  for (int i = 0; i < m; i += 4) {
    const auto number = [&](int k) { return x[places[std::min(i + k, m - 1)]]; };
    store(y + i, internal::keep_first(m - i, Vec4{number(0), number(1), number(2), number(3)}));
  }
}

/// Computes y -= A^T s with A (m x n, row-major). It reads A once, four rows at a time, and sums in
/// the order of the rows.
inline void subtract_rows(int m, int n, const double* A, const double* s, double* y) {
  int k = 0;
  for (; k + 4 <= m; k += 4) {
    const double* const a[] = {A, A + n, A + 2 * n, A + 3 * n};
    const double minus[] = {-s[k], -s[k + 1], -s[k + 2], -s[k + 3]};
    internal::add_four_rows(n, a, minus, y);
    A += 4 * static_cast<std::ptrdiff_t>(n);
  }
  for (; k < m; ++k, A += n) add_multiple(n, -s[k], A, y);
}

/// Returns max |x_i|, or 0 if n = 0.
inline double max_abs(int n, const double* x) {
  Vec4 largest{};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const Vec4 xi = load<Vec4>(x + i);
    largest = max(largest, max(xi, -xi));
  }
  double all = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  for (; i < n; ++i) all = std::max(all, std::abs(x[i]));
  return all;
}

inline double max_abs(std::span<const double> x) {
  return max_abs(static_cast<int>(x.size()), x.data());
}

/// Returns true if all numbers are finite.
inline bool all_finite(int n, const double* x) {
  // 0 x is 0 for a finite x, and not a number otherwise.
  Vec4 zeros{};
  int i = 0;
  for (; i + 4 <= n; i += 4) zeros += load<Vec4>(x + i) * 0.0;
  double rest = sum(zeros);
  for (; i < n; ++i) rest += 0 * x[i];
  return rest == 0;
}

struct LeastEntry {
  int index = 0;           // index of the least number, the first if there are several
  bool all_finite = true;  // if false, the index is 0
};

/// Finds the least of the n > 0 numbers mask_i x_i, if all x_i are finite.
/// @param mask 1 for numbers that count, 0 for others, which are taken for 0
inline LeastEntry find_least(int n, const double* x, const double* mask) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Vec4 leasts = broadcast(kInfinity), zeros{};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const Vec4 xi = load<Vec4>(x + i);
    leasts = min(xi * load<Vec4>(mask + i), leasts);
    zeros = multiply_add(xi, 0.0, zeros);
  }
  double least = std::min(std::min(leasts[0], leasts[1]), std::min(leasts[2], leasts[3]));
  double zero = sum(zeros);
  for (; i < n; ++i) {
    least = std::min(least, mask[i] * x[i]);
    zero += 0 * x[i];
  }
  if (!(zero == 0)) return {.index = 0, .all_finite = false};
  for (i = 0; i + 4 <= n; i += 4) {
    const unsigned equals = true_lanes(load<Vec4>(x + i) * load<Vec4>(mask + i) == least);
    if (equals) return {.index = i + std::countr_zero(equals)};
  }
  while (mask[i] * x[i] != least) ++i;
  return {.index = i};
}

}  // namespace stiction::math
