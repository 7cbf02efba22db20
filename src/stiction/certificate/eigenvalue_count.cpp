#include "stiction/certificate/eigenvalue_count.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::certificate {

using math::dot;

int EigenvalueCount::count_above(int n, double threshold, std::vector<double>* matrix) {
  STICTION_ASSERT(matrix->size() == static_cast<std::size_t>(n) * n);
  reduce(n, matrix->data());
  int count = 0;
  double pivot = 1;
  for (int i = 0; i < n; ++i) {
    const double e = i > 0 ? off_diagonal_[i - 1] : 0;
    pivot = diagonal_[i] - threshold - e * e / pivot;
    if (pivot == 0) pivot = -std::numeric_limits<double>::min();
    count += pivot > 0;
  }
  return count;
}

/// Writes T to diagonal_ and off_diagonal_.
void EigenvalueCount::reduce(int n, double* A) {
  const auto row = [&](int i) { return A + static_cast<std::size_t>(i) * n; };
  diagonal_.resize(n);
  off_diagonal_.resize(n);
  reflector_.resize(n);
  product_.resize(n);
  for (int k = 0; k < n; ++k) {
    base::check_limits();
    diagonal_[k] = row(k)[k];
    // The reflection I - 2 u u^T / |u|^2 takes the rest of the row to a multiple of a unit vector.
    const int m = n - k - 1;
    if (m == 0) break;
    double* const u = reflector_.data();
    for (int i = 0; i < m; ++i) u[i] = row(k)[k + 1 + i];
    const double length = std::sqrt(dot(m, u, u));
    off_diagonal_[k] = -std::copysign(length, u[0]);
    u[0] -= off_diagonal_[k];
    const double squared = dot(m, u, u);
    if (!(squared > 0)) continue;
    // B -= u w^T + w u^T with w = p - (p . u / |u|^2) u, p = 2 B u / |u|^2.
    double* const w = product_.data();
    for (int i = 0; i < m; ++i) w[i] = 2 * dot(m, row(k + 1 + i) + k + 1, u) / squared;
    math::add_multiple(m, -dot(m, w, u) / squared, u, w);
    for (int i = 0; i < m; ++i) {
      math::add_multiple(m, -u[i], w, row(k + 1 + i) + k + 1);
      math::add_multiple(m, -w[i], u, row(k + 1 + i) + k + 1);
    }
  }
}

}  // namespace stiction::certificate
