#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/math/lanes.hpp"
#include "stiction/math/six.hpp"

/// Small dense kernels on column-major blocks: the inner loops of the block Cholesky factorization.
///
/// Blocks are small (6 rows for a free body, tens for a robot), so the kernels do not pack them.
/// Rows are processed four at a time in GCC vector types, and partial sums stay in registers. The
/// kernels sum each entry in one fixed order, so results are bitwise reproducible.
///
/// The stride of a matrix is the distance between its columns. `lda`, `ldc`, ... are the strides of
/// matrices A, C, ... that are given by a pointer.
namespace stiction::math {

/// A column-major matrix that a kernel reads: entry (i, j) is data[i + j * stride].
struct MatrixView {
  const double* data;
  int rows, columns;
  int stride;  // >= rows

  constexpr MatrixView(const double* matrix, int num_rows, int num_columns, int column_stride)
      : data(matrix), rows(num_rows), columns(num_columns), stride(column_stride) {}
  /// A matrix without gaps between its columns.
  constexpr MatrixView(const double* matrix, int num_rows, int num_columns)
      : MatrixView(matrix, num_rows, num_columns, num_rows) {}

  /// Returns the matrix without its rows before `first`.
  constexpr MatrixView rows_from(int first) const {
    return {data + first, rows - first, columns, stride};
  }
};

namespace internal {

/// Computes C(:, 0..kCols) -= A B(0..kCols, :)^T for one group of rows, as many as V has lanes.
template <class V, int kCols>
inline void subtract_abt_rows(MatrixView A, MatrixView B, double* C, int ldc) {
  V acc[kCols];
  for (int j = 0; j < kCols; ++j) acc[j] = load<V>(C + j * ldc);
  for (int p = 0; p < A.columns; ++p) {
    const V a = -load<V>(A.data + p * A.stride);
    for (int j = 0; j < kCols; ++j) acc[j] = multiply_add(a, B.data[j + p * B.stride], acc[j]);
  }
  for (int j = 0; j < kCols; ++j) store<V>(C + j * ldc, acc[j]);
}

/// Computes C(:, 0..kCols) -= A B(0..kCols, :)^T for all rows of A.
template <int kCols>
inline void subtract_abt_columns(MatrixView A, MatrixView B, double* C, int ldc) {
  int i = 0;
  for (; i + 4 <= A.rows; i += 4) subtract_abt_rows<Vec4, kCols>(A.rows_from(i), B, C + i, ldc);
  if (i + 2 <= A.rows) {
    subtract_abt_rows<Vec2, kCols>(A.rows_from(i), B, C + i, ldc);
    i += 2;
  }
  if (i < A.rows) subtract_abt_rows<double, kCols>(A.rows_from(i), B, C + i, ldc);
}
}  // namespace internal

/// Computes C -= A B^T with A (m x k), B (n x k) and C (m x n).
/// @param ldc stride of C
inline void subtract_abt(MatrixView A, MatrixView B, double* C, int ldc) {
  if (A.rows == 0 || A.columns == 0) return;  // matrices may be null
  int j = 0;
  for (; j + 6 <= B.rows; j += 6)
    internal::subtract_abt_columns<6>(A, B.rows_from(j), C + j * ldc, ldc);
  switch (B.rows - j) {
    case 5: internal::subtract_abt_columns<5>(A, B.rows_from(j), C + j * ldc, ldc); break;
    case 4: internal::subtract_abt_columns<4>(A, B.rows_from(j), C + j * ldc, ldc); break;
    case 3: internal::subtract_abt_columns<3>(A, B.rows_from(j), C + j * ldc, ldc); break;
    case 2: internal::subtract_abt_columns<2>(A, B.rows_from(j), C + j * ldc, ldc); break;
    case 1: internal::subtract_abt_columns<1>(A, B.rows_from(j), C + j * ldc, ldc); break;
    default: break;
  }
}

namespace internal {

/// Computes C(0..8, 0..kCols) -= A B(0..kCols, :)^T. Each number of B serves two groups of rows.
template <int kCols>
inline void subtract_abt_eight_rows(MatrixView A, MatrixView B, double* C, int ldc) {
  Vec4 low[kCols], high[kCols];
  for (int j = 0; j < kCols; ++j) {
    low[j] = load<Vec4>(C + j * ldc);
    high[j] = load<Vec4>(C + 4 + j * ldc);
  }
  for (int p = 0; p < A.columns; ++p) {
    const Vec4 a = -load<Vec4>(A.data + p * A.stride), b = -load<Vec4>(A.data + 4 + p * A.stride);
    for (int j = 0; j < kCols; ++j) {
      const Vec4 x = broadcast_to<Vec4>(B.data[j + p * B.stride]);
      low[j] = multiply_add(a, x, low[j]);
      high[j] = multiply_add(b, x, high[j]);
    }
  }
  for (int j = 0; j < kCols; ++j) {
    store<Vec4>(C + j * ldc, low[j]);
    store<Vec4>(C + 4 + j * ldc, high[j]);
  }
}

/// Computes C(0..6, 0..6) -= A B^T for six rows. Each number of B serves all six.
inline void subtract_abt_six_rows(MatrixView A, const double* B, double* C, int ldc) {
  Six acc[6];
  for (int j = 0; j < 6; ++j) acc[j] = Six::load(C + j * ldc);
  for (int p = 0; p < 6; ++p) {
    const Six a = Six::load(A.data + p * A.stride);
    for (int j = 0; j < 6; ++j) acc[j] = multiply_subtract(a, B[j + 6 * p], acc[j]);
  }
  for (int j = 0; j < 6; ++j) acc[j].store(C + j * ldc);
}

}  // namespace internal

/// Computes C -= A B^T with A (m x 6), B (6 x 6) and C (m x 6), where m is even: the case of free
/// bodies.
/// @param lda, ldc strides of A and C; B has no gaps
inline void subtract_abt_6(int m, const double* A, int lda, const double* B, double* C, int ldc) {
  const MatrixView left(A, m, 6, lda), right(B, 6, 6);
  int i = 0;
  for (; i + 8 <= m; i += 8)
    internal::subtract_abt_eight_rows<6>(left.rows_from(i), right, C + i, ldc);
  if (i + 6 == m) return internal::subtract_abt_six_rows(left.rows_from(i), B, C + i, ldc);
  if (i + 4 <= m) {
    internal::subtract_abt_rows<Vec4, 6>(left.rows_from(i), right, C + i, ldc);
    i += 4;
  }
  if (i < m) internal::subtract_abt_rows<Vec2, 6>(left.rows_from(i), right, C + i, ldc);
}

namespace internal {

/// Computes y += kSign A x for one group of rows, as many as V has lanes.
template <class V, int kSign>
inline void add_av_rows(MatrixView A, const double* x, double* y) {
  V acc = load<V>(y);
  for (int j = 0; j < A.columns; ++j) {
    const V column = load<V>(A.data + j * A.stride);
    acc = kSign > 0 ? multiply_add(column, x[j], acc) : multiply_subtract(column, x[j], acc);
  }
  store<V>(y, acc);
}

}  // namespace internal

/// Computes y += kSign A x.
/// @param kSign 1 or -1
template <int kSign>
inline void add_av(MatrixView A, const double* x, double* y) {
  if (A.columns == 0) return;  // A may be null
  int i = 0;
  for (; i + 4 <= A.rows; i += 4) internal::add_av_rows<Vec4, kSign>(A.rows_from(i), x, y + i);
  if (i + 2 <= A.rows) {
    internal::add_av_rows<Vec2, kSign>(A.rows_from(i), x, y + i);
    i += 2;
  }
  if (i < A.rows) internal::add_av_rows<double, kSign>(A.rows_from(i), x, y + i);
}

namespace internal {

/// Computes y = A x for kGroups groups of rows, each of as many rows as V has lanes.
template <class V, int kGroups>
inline void multiply_rows(MatrixView A, const double* x, double* y) {
  constexpr int kLanes = sizeof(V) / sizeof(double);
  V sums[kGroups]{};
  for (int j = 0; j < A.columns; ++j) {
    const V b = broadcast_to<V>(x[j]);
    for (int g = 0; g < kGroups; ++g)
      sums[g] = multiply_add(load<V>(A.data + g * kLanes + j * A.stride), b, sums[g]);
  }
  for (int g = 0; g < kGroups; ++g) store<V>(y + g * kLanes, sums[g]);
}

}  // namespace internal

/// Computes y = A x. x and y must not overlap.
inline void multiply(MatrixView A, const double* x, double* y) {
  int i = 0;
  for (; i + 16 <= A.rows; i += 16) internal::multiply_rows<Vec4, 4>(A.rows_from(i), x, y + i);
  for (; i + 4 <= A.rows; i += 4) internal::multiply_rows<Vec4, 1>(A.rows_from(i), x, y + i);
  if (i == A.rows) return;
  if (A.rows >= 4) {  // the last four rows, some of them once more
    internal::multiply_rows<Vec4, 1>(A.rows_from(A.rows - 4), x, y + A.rows - 4);
    return;
  }
  for (; i < A.rows; ++i) internal::multiply_rows<double, 1>(A.rows_from(i), x, y + i);
}

namespace internal {

/// Computes y += s A^T x for four columns of A at a time, or for one.
/// @param kCols 4, or 1 with the same sums
template <int kCols>
inline void add_atv_columns(double s, MatrixView A, const double* x, double* y) {
  const auto column = [&](int j) { return A.data + j * A.stride; };
  Vec4 acc[4]{};
  int i = 0;
  for (; i + 4 <= A.rows; i += 4)
    for (int j = 0; j < kCols; ++j)
      acc[j] = multiply_add(load<Vec4>(column(j) + i), load<Vec4>(x + i), acc[j]);
  Vec4 sum = sum_each(acc[0], acc[1], acc[2], acc[3]);
  for (; i < A.rows; ++i) {
    Vec4 a{};
    for (int j = 0; j < kCols; ++j) a[j] = column(j)[i];
    sum += a * x[i];
  }
  for (int j = 0; j < kCols; ++j) y[j] += s * sum[j];
}

}  // namespace internal

/// Computes y += s A^T x.
inline void add_atv(double s, MatrixView A, const double* x, double* y) {
  const auto columns_from = [&](int j) {
    return MatrixView(A.data + j * A.stride, A.rows, A.columns - j, A.stride);
  };
  int j = 0;
  for (; j + 4 <= A.columns; j += 4) internal::add_atv_columns<4>(s, columns_from(j), x, y + j);
  for (; j < A.columns; ++j) internal::add_atv_columns<1>(s, columns_from(j), x, y + j);
}

/// Factors a panel of m >= n rows in place. The lower triangle of its leading n x n block becomes
/// L11 of A11 = L11 D L11^T, where L11 has ones on its diagonal and the storage of the diagonal
/// keeps D. The rows below become L21 = A21 L11^-T D^-1. Avoiding square roots halves the latency
/// of the chain of pivots.
/// @param inv_diagonal out: 1 / D, size n
/// @param scratch      min(n, 6) * n numbers
/// @return false at a pivot that is not positive or not a number; the panel is then partly factored
bool factor_panel(int m, int n, double* A, int lda, double* inv_diagonal, double* scratch);

/// Factors a symmetric n x n matrix A = L D L^T in place, where n is a multiple of four, and the
/// columns have no gaps. Such a matrix needs no code for rows that are left over. L is stored below
/// the diagonal and D on it; the entries above are overwritten.
/// @param inv_diagonal out: 1 / D, size n
/// @param scratch      n^2 numbers
/// @return false at a pivot that is not positive or not a number; A is then partly factored
bool factor_multiple_of_four(int n, double* A, double* inv_diagonal, double* scratch);

/// Computes the inverse of a symmetric positive definite 6 x 6 matrix. Both are column-major; only
/// the lower triangle of A is read.
/// @return false if it is not positive definite
bool invert_six(const double* A, double* inverse);

/// Computes x <- A^-1 x for a symmetric positive definite 6 x 6 matrix.
/// @return false if it is not positive definite
bool solve_six(const SixBySix& A, double* x);

/// Computes B = L diag(d), without gaps between the columns of B.
/// @param stride_d distance between successive entries of d
inline void scale_columns(MatrixView L, const double* d, int stride_d, double* B) {
  const int m = L.rows;
  if (m == 6) {
    for (int j = 0; j < L.columns; ++j)
      (Six::load(L.data + j * L.stride) * d[j * stride_d]).store(B + 6 * j);
    return;
  }
  for (int j = 0; j < L.columns; ++j)
    for (int i = 0; i < m; ++i) B[i + j * m] = L.data[i + j * L.stride] * d[j * stride_d];
}

namespace internal {

/// The columns of a triangular solve at a time, in which numbers wait for those before.
inline constexpr int kSolveWidth = 4;

/// Computes x <- L^-1 x for n = 4, in registers.
inline void solve_lower_4(const double* L, int ldl, double* x) {
  const double *a = L, *b = L + ldl, *c = L + 2 * ldl;
  const double x0 = x[0];
  const double x1 = multiply_add(-a[1], x0, x[1]);
  const double x2 = multiply_add(-b[2], x1, multiply_add(-a[2], x0, x[2]));
  x[3] = multiply_add(-c[3], x2, multiply_add(-b[3], x1, multiply_add(-a[3], x0, x[3])));
  x[2] = x2;
  x[1] = x1;
}

/// Computes x <- L^-T x for n = 4, in registers.
inline void solve_lower_transposed_4(const double* L, int ldl, double* x) {
  const double *a = L, *b = L + ldl, *c = L + 2 * ldl;
  const double x3 = x[3];
  const double x2 = multiply_add(-c[3], x3, x[2]);
  const double x1 = multiply_add(-b[2], x2, multiply_add(-b[3], x3, x[1]));
  x[0] = multiply_add(-a[1], x1, multiply_add(-a[2], x2, multiply_add(-a[3], x3, x[0])));
  x[1] = x1;
  x[2] = x2;
}

}  // namespace internal

/// Computes x <- L^-1 x with the unit lower triangle L of an n x n factor.
inline void solve_lower(int n, const double* L, int ldl, double* x) {
  for (int first = 0; first < n; first += internal::kSolveWidth) {
    const int end = std::min(first + internal::kSolveWidth, n);
    if (end - first == internal::kSolveWidth)
      internal::solve_lower_4(L + first + first * ldl, ldl, x + first);
    else
      for (int j = first; j < end; ++j)
        for (int i = j + 1; i < end; ++i) x[i] = multiply_add(-L[i + j * ldl], x[j], x[i]);
    add_av<-1>({L + end + first * ldl, n - end, end - first, ldl}, x + first, x + end);
  }
}

/// Computes x <- L^-T x with the unit lower triangle L of an n x n factor.
inline void solve_lower_transposed(int n, const double* L, int ldl, double* x) {
  const int last = (n - 1) / internal::kSolveWidth * internal::kSolveWidth;
  for (int first = last; first >= 0; first -= internal::kSolveWidth) {
    const int end = std::min(first + internal::kSolveWidth, n);
    add_atv(-1, {L + end + first * ldl, n - end, end - first, ldl}, x + end, x + first);
    if (end - first == internal::kSolveWidth)
      internal::solve_lower_transposed_4(L + first + first * ldl, ldl, x + first);
    else
      for (int j = end - 1; j >= first; --j)
        for (int i = end - 1; i > j; --i) x[j] = multiply_add(-L[i + j * ldl], x[i], x[j]);
  }
}

/// Computes x <- L^-1 x for n = 6, in registers.
inline void solve_lower_6(const double* L, int ldl, double* x) {
  double y[6] = {x[0], x[1], x[2], x[3], x[4], x[5]};
#pragma GCC unroll 6
  for (int j = 0; j < 5; ++j) {
#pragma GCC unroll 6
    for (int i = j + 1; i < 6; ++i) y[i] = multiply_add(-L[i + j * ldl], y[j], y[i]);
  }
#pragma GCC unroll 6
  for (int i = 1; i < 6; ++i) x[i] = y[i];
}
/// Computes x <- L^-T x for n = 6, in registers.
inline void solve_lower_transposed_6(const double* L, int ldl, double* x) {
  double y[6] = {x[0], x[1], x[2], x[3], x[4], x[5]};
#pragma GCC unroll 6
  for (int i = 5; i > 0; --i) {
#pragma GCC unroll 6
    for (int j = i - 1; j >= 0; --j) y[j] = multiply_add(-L[i + j * ldl], y[i], y[j]);
  }
#pragma GCC unroll 6
  for (int i = 0; i < 5; ++i) x[i] = y[i];
}

}  // namespace stiction::math
