#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/scalar_functions.hpp"

/// The generalized minimal residual method (GMRES), by products with the matrix.
namespace stiction::numerics {

inline constexpr int kMaxGmresIterations = 30;

/// The scratch size for a system of n unknowns, in doubles.
constexpr std::size_t gmres_scratch_size(std::size_t n) { return (kMaxGmresIterations + 1) * n; }

struct GmresResult {
  int iterations = 0;
  double relative_residual = 0;  // |b - M x| / |b|
};

/// Solves M x = b from x = 0 until |b - M x| <= tolerance |b|, with at most kMaxGmresIterations.
/// Source: [saad1986], with Givens rotations.
/// @param multiply function of (span<const double> x, span<double> y) that computes y = M x
/// @param scratch  gmres_scratch_size(n) numbers
template <class Multiply>
GmresResult solve_gmres(Multiply&& multiply, std::span<const double> b, double tolerance,
                        std::span<double> scratch, std::span<double> x) {
  constexpr int m = kMaxGmresIterations;
  const std::size_t n = b.size();
  STICTION_ASSERT(x.size() == n && scratch.size() >= gmres_scratch_size(n));
  const auto basis = [&](int i) { return scratch.subspan(i * n, n); };
  const auto dot = [](std::span<const double> p, std::span<const double> q) {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * q[i];
    return sum;
  };
  std::array<std::array<double, m + 1>, m> R;  // R[j]: column j of the Hessenberg matrix, rotated
  std::array<double, m> cosine, sine, y;
  std::array<double, m + 1> e;  // |b| e_1, rotated

  GmresResult result;
  std::fill(x.begin(), x.end(), 0.0);
  const double norm_b = std::sqrt(dot(b, b));
  if (!(norm_b > 0)) return result;
  for (std::size_t i = 0; i < n; ++i) basis(0)[i] = b[i] / norm_b;
  e[0] = norm_b;
  result.relative_residual = 1;
  int k = 0;
  while (k < m && result.relative_residual > tolerance) {
    base::check_limits();
    // Arnoldi's method computes the next basis vector, orthogonal to the ones before.
    const std::span<double> next = basis(k + 1);
    multiply(std::span<const double>(basis(k)), next);
    for (int i = 0; i <= k; ++i) {
      const double h = dot(basis(i), next);
      R[k][i] = h;
      for (std::size_t j = 0; j < n; ++j) next[j] -= h * basis(i)[j];
    }
    const double norm = std::sqrt(dot(next, next));
    R[k][k + 1] = norm;
    if (norm > 0)
      for (double& value : next) value /= norm;
    // Givens rotations keep the Hessenberg matrix triangular.
    for (int i = 0; i < k; ++i) {
      const double above = R[k][i], below = R[k][i + 1];
      R[k][i] = cosine[i] * above + sine[i] * below;
      R[k][i + 1] = cosine[i] * below - sine[i] * above;
    }
    const double length = math::hypot(R[k][k], norm);
    if (!(length > 0)) break;  // singular
    cosine[k] = R[k][k] / length;
    sine[k] = norm / length;
    R[k][k] = length;
    e[k + 1] = -sine[k] * e[k];
    e[k] *= cosine[k];
    result.relative_residual = std::abs(e[k + 1]) / norm_b;
    ++k;
    if (!(norm > 1e-14 * norm_b)) break;  // the basis is complete
  }
  // Back substitution, then the combination of the basis vectors.
  result.iterations = k;
  for (int i = k - 1; i >= 0; --i) {
    y[i] = e[i];
    for (int j = i + 1; j < k; ++j) y[i] -= R[j][i] * y[j];
    y[i] /= R[i][i];
  }
  for (int i = 0; i < k; ++i)
    for (std::size_t j = 0; j < n; ++j) x[j] += y[i] * basis(i)[j];
  return result;
}

}  // namespace stiction::numerics
