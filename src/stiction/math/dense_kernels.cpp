#include "stiction/math/dense_kernels.hpp"

namespace stiction::math {
namespace {

/// Factors columns [0, n) of an m-row panel column by column, n small.
bool factor_columns(int m, int n, double* A, int lda, double* inv_diagonal) {
  for (int j = 0; j < n; ++j) {
    double* aj = A + j * lda;
    const double pivot = aj[j];
    if (!(pivot > 0)) return false;
    const double root = std::sqrt(pivot);
    const double inv = 1.0 / root;
    inv_diagonal[j] = inv;
    aj[j] = root;
    for (int i = j + 1; i < m; ++i) aj[i] *= inv;
    for (int c = j + 1; c < n; ++c) {
      const double f = aj[c];
      double* ac = A + c * lda;
      for (int i = c; i < m; ++i) ac[i] -= aj[i] * f;
    }
  }
  return true;
}

}  // namespace

bool factor_panel(int m, int n, double* A, int lda, double* inv_diagonal) {
  // Left-looking over groups of six columns: all earlier columns enter by one product.
  constexpr int kGroup = 6;
  for (int j = 0; j < n; j += kGroup) {
    const int width = n - j < kGroup ? n - j : kGroup;
    double* panel = A + j + j * lda;
    if (j > 0) subtract_abt(m - j, width, j, A + j, lda, A + j, lda, panel, lda);
    if (!factor_columns(m - j, width, panel, lda, inv_diagonal + j)) return false;
  }
  return true;
}

void solve_lower(int n, const double* L, int ldl, const double* inv_diagonal, double* x) {
  for (int j = 0; j < n; ++j) {
    const double xj = x[j] * inv_diagonal[j];
    x[j] = xj;
    const double* lj = L + j * ldl;
    for (int i = j + 1; i < n; ++i) x[i] -= lj[i] * xj;
  }
}

void solve_lower_transposed(int n, const double* L, int ldl, const double* inv_diagonal,
                            double* x) {
  for (int j = n - 1; j >= 0; --j) {
    const double* lj = L + j * ldl;
    double sum = x[j];
    for (int i = j + 1; i < n; ++i) sum -= lj[i] * x[i];
    x[j] = sum * inv_diagonal[j];
  }
}

}  // namespace stiction::math
