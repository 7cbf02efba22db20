#include "stiction/numerics/dense_solve.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

int solve_in_place(int n, double* A, int num_right, double* X) {
  double largest = 0;
  for (int i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(A[i]));
  // Elimination.
  for (int k = 0; k < n; ++k) {
    base::check_limits();
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(A[i * n + k]) > std::abs(A[pivot * n + k])) pivot = i;
    if (!(std::abs(A[pivot * n + k]) > 1e-14 * largest)) return k;
    if (pivot != k) {
      std::swap_ranges(A + k * n, A + (k + 1) * n, A + pivot * n);
      std::swap_ranges(X + k * num_right, X + (k + 1) * num_right, X + pivot * num_right);
    }
    const double inverse = 1 / A[k * n + k];
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] * inverse;
      math::add_multiple(n - k, -factor, A + k * n + k, A + i * n + k);
      math::add_multiple(num_right, -factor, X + k * num_right, X + i * num_right);
    }
  }
  // Back substitution.
  for (int k = n - 1; k >= 0; --k) {
    double* x = X + k * num_right;
    for (int j = k + 1; j < n; ++j)
      math::add_multiple(num_right, -A[k * n + j], X + j * num_right, x);
    for (int j = 0; j < num_right; ++j) x[j] /= A[k * n + k];
  }
  return -1;
}

}  // namespace stiction::numerics
