#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/math/vec3.hpp"

/// Matrices of three or six rows, for the inertia of single bodies.
///
/// All sums are pairwise: the sum of the first half of the terms plus that of the second half. This
/// is the order of Eigen's small matrices without vectorization, in which the golden runs were
/// recorded; it compiles in a tenth of the time.
namespace stiction::math {

/// Returns sum_k a[k stride] b[k] of n terms, pairwise.
template <int n>
double sum_products(const double* a, int stride, const double* b) {
  if constexpr (n == 1) return a[0] * b[0];
  if constexpr (n > 1)
    return sum_products<n / 2>(a, stride, b) +
           sum_products<n - n / 2>(a + n / 2 * stride, stride, b + n / 2);
}

inline double dot_pairwise(const Vec3& a, const Vec3& b) {
  return a.x * b.x + (a.y * b.y + a.z * b.z);
}

/// An n x n matrix, stored by columns; 0 by default.
template <int n>
struct SquareMatrix {
  double entries[n * n] = {};

  double& operator()(int i, int j) { return entries[i + n * j]; }
  double operator()(int i, int j) const { return entries[i + n * j]; }
};

template <int n>
SquareMatrix<n> operator+(SquareMatrix<n> A, const SquareMatrix<n>& B) {
  for (int k = 0; k < n * n; ++k) A.entries[k] += B.entries[k];
  return A;
}

template <int n>
SquareMatrix<n> operator-(SquareMatrix<n> A, const SquareMatrix<n>& B) {
  for (int k = 0; k < n * n; ++k) A.entries[k] -= B.entries[k];
  return A;
}

template <int n>
SquareMatrix<n> operator*(double s, SquareMatrix<n> A) {
  for (double& entry : A.entries) entry *= s;
  return A;
}

/// Computes y = A x; y must not be x.
template <int n>
void multiply(const SquareMatrix<n>& A, const double* x, double* y) {
  for (int i = 0; i < n; ++i) y[i] = sum_products<n>(A.entries + i, n, x);
}

template <int n>
SquareMatrix<n> operator*(const SquareMatrix<n>& A, const SquareMatrix<n>& B) {
  SquareMatrix<n> product;
  for (int j = 0; j < n; ++j) multiply(A, B.entries + n * j, product.entries + n * j);
  return product;
}

template <int n>
SquareMatrix<n> transpose(const SquareMatrix<n>& A) {
  SquareMatrix<n> out;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) out(i, j) = A(j, i);
  return out;
}

/// Factors a matrix as P A = L U with pivots of the largest magnitude in their column, and applies
/// P to x.
template <int n>
void factor_lu(SquareMatrix<n>* A, double* x) {
  SquareMatrix<n>& lu = *A;
  for (int k = 0; k + 1 < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(lu(i, k)) > std::abs(lu(pivot, k))) pivot = i;
    if (lu(pivot, k) == 0) continue;  // this column has nothing to eliminate
    if (pivot != k) {
      for (int j = 0; j < n; ++j) std::swap(lu(k, j), lu(pivot, j));
      std::swap(x[k], x[pivot]);
    }
    for (int i = k + 1; i < n; ++i) lu(i, k) /= lu(k, k);
    for (int j = k + 1; j < n; ++j)
      for (int i = k + 1; i < n; ++i) lu(i, j) -= lu(i, k) * lu(k, j);
  }
}

/// Solves A x = b by LU factorization with partial pivoting.
/// @param x in: b; out: the solution, not finite if A is singular
template <int n>
void solve_lu(SquareMatrix<n> A, double* x) {
  factor_lu(&A, x);
  const auto substitute = [&]<int... k>(std::integer_sequence<int, k...>) {
    ((x[k + 1] -= sum_products<k + 1>(&A(k + 1, 0), n, x)), ...);
    x[n - 1] /= A(n - 1, n - 1);
    ((x[n - 2 - k] =
          (x[n - 2 - k] - sum_products<k + 1>(&A(n - 2 - k, n - 1 - k), n, x + n - 1 - k)) /
          A(n - 2 - k, n - 2 - k)),
     ...);
  };
  substitute(std::make_integer_sequence<int, n - 1>());
}

}  // namespace stiction::math
