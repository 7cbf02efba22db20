#include "stiction/math/dense_kernels.hpp"

namespace stiction::math {
namespace {

/// Factors the leading kWidth x kWidth block as L D L^T, with unrolled loops.
/// @return false if a pivot is not above zero
template <int kWidth>
bool factor_square(double* A, int lda, double* inv_diagonal) {
  double L[kWidth][kWidth], T[kWidth][kWidth];  // T = L D
  for (int j = 0; j < kWidth; ++j) {
    double pivot = A[j + j * lda];
    for (int k = 0; k < j; ++k) pivot = multiply_add(-L[j][k], T[j][k], pivot);
    if (!(pivot > 0)) return false;
    const double inv = 1 / pivot;
    inv_diagonal[j] = inv;
    A[j + j * lda] = pivot;
    for (int i = j + 1; i < kWidth; ++i) {
      double sum = A[i + j * lda];
      for (int k = 0; k < j; ++k) sum = multiply_add(-L[i][k], T[j][k], sum);
      T[i][j] = sum;
      A[i + j * lda] = L[i][j] = sum * inv;
    }
  }
  return true;
}

/// For six columns: in registers, right-looking. Overwrites the entries above the diagonal.
template <>
bool factor_square<6>(double* A, int lda, double* inv_diagonal) {
  Six column[6];
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) column[j] = Six::load(A + j * lda);
  bool is_positive = true;
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    const double pivot = column[j][j];
    is_positive = is_positive & (pivot > 0);
    const double inv = 1 / pivot;
    const Six l = column[j] * inv;
#pragma GCC unroll 6
    for (int k = j + 1; k < 6; ++k) column[k] = multiply_subtract(l, column[j][k], column[k]);
    inv_diagonal[j] = inv;
    l.store(A + j * lda);
    A[j + j * lda] = pivot;
  }
  return is_positive;
}

/// Solves X D L^T = B in place of B for one group of rows, as many as V has lanes.
template <class V, int kWidth>
void solve_right_rows(const double* L, int lda, const double* inv_diagonal, double* B) {
  V t[kWidth];  // X D
#pragma GCC unroll 6
  for (int j = 0; j < kWidth; ++j) {
    t[j] = load<V>(B + j * lda);
#pragma GCC unroll 6
    for (int k = 0; k < j; ++k) t[j] = multiply_subtract(t[k], L[j + k * lda], t[j]);
    store<V>(B + j * lda, t[j] * inv_diagonal[j]);
  }
}

/// Factors kWidth columns of a panel of m rows.
template <int kWidth>
bool factor_columns(int m, double* A, int lda, double* inv_diagonal) {
  if (!factor_square<kWidth>(A, lda, inv_diagonal)) return false;
  int i = kWidth;
  for (; i + 4 <= m; i += 4) solve_right_rows<Vec4, kWidth>(A, lda, inv_diagonal, A + i);
  if (i + 2 <= m) {
    solve_right_rows<Vec2, kWidth>(A, lda, inv_diagonal, A + i);
    i += 2;
  }
  if (i < m) solve_right_rows<double, kWidth>(A, lda, inv_diagonal, A + i);
  return true;
}

/// Factors `width` <= 6 columns of a panel of m rows.
bool factor_columns(int width, int m, double* A, int lda, double* inv_diagonal) {
  switch (width) {
    case 1: return factor_columns<1>(m, A, lda, inv_diagonal);
    case 2: return factor_columns<2>(m, A, lda, inv_diagonal);
    case 3: return factor_columns<3>(m, A, lda, inv_diagonal);
    case 4: return factor_columns<4>(m, A, lda, inv_diagonal);
    case 5: return factor_columns<5>(m, A, lda, inv_diagonal);
    default: return factor_columns<6>(m, A, lda, inv_diagonal);
  }
}

/// The number of columns that factor_multiple_of_four takes at a time.
constexpr int kWide = 4;

/// Computes C -= A T(0..kWide, :)^T for kGroups groups of four rows of matrices of stride n.
/// @param k number of columns of A and T
template <int kGroups>
void subtract_columns(const double* A, const double* T, int n, int k, double* C) {
  Vec4 sums[kGroups][kWide];
#pragma GCC unroll 4
  for (int j = 0; j < kWide; ++j)
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) sums[g][j] = load<Vec4>(C + 4 * g + j * n);
  for (int p = 0; p < k; ++p) {
    Vec4 a[kGroups];
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) a[g] = -load<Vec4>(A + 4 * g + p * n);
#pragma GCC unroll 4
    for (int j = 0; j < kWide; ++j) {
      const Vec4 t = broadcast_to<Vec4>(T[j + p * n]);
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) sums[g][j] = multiply_add(a[g], t, sums[g][j]);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kWide; ++j)
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) store<Vec4>(C + 4 * g + j * n, sums[g][j]);
}

/// Solves X D L^T = B in place of B for four rows, and keeps X D.
void solve_right(const double* L, int n, const double* inv_diagonal, double* B, double* XD) {
  Vec4 t[kWide];
#pragma GCC unroll 4
  for (int j = 0; j < kWide; ++j) {
    t[j] = load<Vec4>(B + j * n);
#pragma GCC unroll 4
    for (int k = 0; k < j; ++k) t[j] = multiply_subtract(t[k], L[j + k * n], t[j]);
    store<Vec4>(XD + j * n, t[j]);
    store<Vec4>(B + j * n, t[j] * inv_diagonal[j]);
  }
}

}  // namespace

bool factor_multiple_of_four(int n, double* A, double* inv_diagonal, double* scratch) {
  double* LD = scratch;  // L D, in the places of L
  for (int j = 0; j < n; j += kWide) {
    // Subtract all earlier columns from these ones.
    int i = j;
    for (; i + 8 <= n; i += 8) subtract_columns<2>(A + i, LD + j, n, j, A + i + j * n);
    if (i < n) subtract_columns<1>(A + i, LD + j, n, j, A + i + j * n);
    double* square = A + j + j * n;
    if (!factor_square<kWide>(square, n, inv_diagonal + j)) return false;
    for (i = j + kWide; i < n; i += 4)
      solve_right(square, n, inv_diagonal + j, A + i + j * n, LD + i + j * n);
  }
  return true;
}

bool factor_panel(int m, int n, double* A, int lda, double* inv_diagonal, double* scratch) {
  // Left-looking over groups of six columns: one product subtracts all earlier columns.
  constexpr int kGroup = 6;
  for (int j = 0; j < n; j += kGroup) {
    const int width = n - j < kGroup ? n - j : kGroup;
    double* panel = A + j + j * lda;
    if (j > 0) {
      // scratch = L_j D for the rows of this group; panel -= L scratch^T.
      scale_columns({A + j, width, j, lda}, A, lda + 1, scratch);
      subtract_abt({A + j, m - j, j, lda}, {scratch, width, j}, panel, lda);
    }
    if (!factor_columns(width, m - j, panel, lda, inv_diagonal + j)) return false;
  }
  return true;
}

bool solve_six(const SixBySix& A, double* x) {
  double L[36], inv_diagonal[6];
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) A.column[j].store(L + 6 * j);
  if (!factor_square<6>(L, 6, inv_diagonal)) return false;
  solve_lower_6(L, 6, x);
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) x[i] *= inv_diagonal[i];
  solve_lower_transposed_6(L, 6, x);
  return true;
}

bool invert_six(const double* A, double* inverse) {
  double L[36], inv_diagonal[6];
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) Six::load(A + 6 * j).store(L + 6 * j);
  if (!factor_square<6>(L, 6, inv_diagonal)) return false;
  // Computes the rows of Y = L^-1 and sums Y^T D^-1 Y.
  Six y[6];
  SixBySix sum = SixBySix::zero();
#pragma GCC unroll 6
  for (int r = 0; r < 6; ++r) {
    y[r] = Six::unit(r);
#pragma GCC unroll 6
    for (int c = 0; c < r; ++c) y[r] = multiply_subtract(y[c], L[r + 6 * c], y[r]);
    const Six scaled = y[r] * inv_diagonal[r];
#pragma GCC unroll 6
    for (int c = 0; c <= r; ++c) sum.column[c] = multiply_add(y[r], scaled[c], sum.column[c]);
  }
#pragma GCC unroll 6
  for (int c = 0; c < 6; ++c) sum.column[c].store(inverse + 6 * c);
  return true;
}

}  // namespace stiction::math
