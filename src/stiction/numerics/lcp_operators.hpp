#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lcp.hpp"

/// What pivoting asks of an LCP, matrix-free or dense. Both are w = N x + b with
/// x = x_hat + sum_i z_i g_i: of a GramLcp x is u and g_i row i of N; of a DenseLcp x is w itself,
/// N the identity and g_i column i of Q.
namespace stiction::numerics {

struct GramOperator {
  static constexpr bool kXIsW = false;
  GramLcp problem;

  int size() const { return problem.num_rows; }
  int x_size() const { return problem.num_columns; }
  const double* x_hat() const { return problem.u_hat; }
  const double* direction(int i) const { return problem.N + i * problem.num_columns; }
  /// Q_ij.
  double entry(int i, int j) const {
    return math::dot(problem.num_columns, direction(i), direction(j));
  }
  double value(int i, const double* x) const {
    return math::dot(problem.num_columns, direction(i), x) + problem.b[i];
  }
  void values(const double* x, double* w) const {
    math::multiply_rows(problem.num_rows, problem.num_columns, problem.N, x, problem.b, w);
  }
  bool proves_infeasible(std::span<const double> y) const {
    return numerics::proves_infeasible(problem, y);
  }
  /// N N^T never is.
  static bool proves_indefinite(std::span<const double>, double) { return false; }
  /// Of the terms that w_i at x_hat is the sum of.
  double magnitude(int i) const {
    const int n = problem.num_columns;
    return std::abs(problem.b[i]) +
           std::sqrt(entry(i, i) * math::dot(n, problem.u_hat, problem.u_hat));
  }
};

struct DenseOperator {
  static constexpr bool kXIsW = true;
  DenseLcp problem;

  int size() const { return problem.size; }
  int x_size() const { return problem.size; }
  const double* x_hat() const { return problem.r; }
  const double* direction(int i) const { return problem.Q + i * problem.size; }
  double entry(int i, int j) const { return direction(j)[i]; }
  double value(int i, const double* x) const { return x[i]; }
  void values(const double* x, double* w) const {
    if (w != x) std::copy_n(x, problem.size, w);
  }
  bool proves_infeasible(std::span<const double> y) const {
    return numerics::proves_infeasible(problem, y);
  }
  /// True if (Q y)_j^2 is far above energy Q_jj for a j, where energy >= y^T Q y: Cauchy and
  /// Schwarz.
  bool proves_indefinite(std::span<const double> y, double energy) const {
    constexpr double kFar = 100;
    for (int j = 0; j < problem.size; ++j) {
      const double product = math::dot(problem.size, direction(j), y.data());
      if (product * product > kFar * energy * std::max(0.0, entry(j, j)) &&
          std::abs(product) > 1e-9 * math::max_abs(problem.size, direction(j)))
        return true;
    }
    return false;
  }
  double magnitude(int i) const { return std::abs(problem.r[i]); }
};

}  // namespace stiction::numerics
