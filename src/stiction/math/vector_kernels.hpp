#pragma once

#include "stiction/math/six.hpp"

/// Kernels on plain vectors, four numbers at a time; each sums in one fixed order.
namespace stiction::math {

/// a^T b.
inline double dot(int n, const double* a, const double* b) {
  Vec4 sums{};
  int i = 0;
  for (; i + 4 <= n; i += 4) sums = multiply_add(load<Vec4>(a + i), load<Vec4>(b + i), sums);
  double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (; i < n; ++i) sum = multiply_add(a[i], b[i], sum);
  return sum;
}

/// y += s x.
inline void add_multiple(int n, double s, const double* x, double* y) {
  int i = 0;
  for (; i + 4 <= n; i += 4) store(y + i, multiply_add(load<Vec4>(x + i), s, load<Vec4>(y + i)));
  for (; i < n; ++i) y[i] = multiply_add(x[i], s, y[i]);
}

}  // namespace stiction::math
