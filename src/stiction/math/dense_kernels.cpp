#include "stiction/math/dense_kernels.hpp"

namespace stiction::math {
namespace {

/// Cholesky of the leading kWidth x kWidth, unrolled. @return false at a pivot not above zero.
template <int kWidth>
bool factor_square(double* A, int lda, double* inv_diagonal) {
  double L[kWidth][kWidth];
  for (int j = 0; j < kWidth; ++j) {
    double pivot = A[j + j * lda];
    for (int k = 0; k < j; ++k) pivot -= L[j][k] * L[j][k];
    if (!(pivot > 0)) return false;
    const double root = std::sqrt(pivot);
    const double inv = 1 / root;
    inv_diagonal[j] = inv;
    A[j + j * lda] = L[j][j] = root;
    for (int i = j + 1; i < kWidth; ++i) {
      double sum = A[i + j * lda];
      for (int k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      A[i + j * lda] = L[i][j] = sum * inv;
    }
  }
  return true;
}

/// The case of six with its columns in registers, right-looking.
template <>
bool factor_square<6>(double* A, int lda, double* inv_diagonal) {
  SixBySix L = SixBySix::load(A, lda);
  for (int j = 0; j < 6; ++j) {
    const double pivot = L.column[j][j];
    if (!(pivot > 0)) return false;
    const double root = std::sqrt(pivot);
    const double inv = 1 / root;
    inv_diagonal[j] = inv;
    L.column[j] = L.column[j] * inv;
    L.column[j].store(A + j * lda);
    A[j + j * lda] = root;
    for (int k = j + 1; k < 6; ++k) L.column[k] -= L.column[j] * L.column[j][k];
  }
  return true;
}

/// Rows of X L^T = B in place of B, one group of rows (the width of V).
template <class V, int kWidth>
void solve_right_rows(const double* L, int lda, const double* inv_diagonal, double* B) {
  V x[kWidth];
  for (int j = 0; j < kWidth; ++j) {
    V sum = load<V>(B + j * lda);
    for (int k = 0; k < j; ++k) sum -= x[k] * L[j + k * lda];
    x[j] = sum * inv_diagonal[j];
    store(B + j * lda, x[j]);
  }
}

/// Factors kWidth columns of an m-row panel.
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

}  // namespace

bool factor_panel(int m, int n, double* A, int lda, double* inv_diagonal) {
  // Left-looking over groups of six columns: all earlier columns enter by one product.
  constexpr int kGroup = 6;
  for (int j = 0; j < n; j += kGroup) {
    const int width = n - j < kGroup ? n - j : kGroup;
    double* panel = A + j + j * lda;
    if (j > 0) subtract_abt(m - j, width, j, A + j, lda, A + j, lda, panel, lda);
    if (!factor_columns(width, m - j, panel, lda, inv_diagonal + j)) return false;
  }
  return true;
}

}  // namespace stiction::math
