#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lcp.hpp"

/// The operations that pivoting needs of an LCP, for factored and dense problems alike. Both have
/// the form w = N x + b with x = x_hat + sum_i z_i g_i. For a GramLcp x is u and g_i is row i of N.
/// For a DenseLcp x is w itself, N is the identity, b is 0 and g_i is column i of Q. Only rows of a
/// GramLcp may have bounds on both sides and compliance.
namespace stiction::numerics {

/// The operations on a problem in factored form.
struct GramOperator {
  static constexpr bool kXIsW = false;
  GramLcp problem;

  int size() const { return problem.num_rows; }
  int x_size() const { return problem.num_columns; }
  const double* x_hat() const { return problem.u_hat; }
  /// Returns g_i, size x_size().
  const double* direction(int i) const { return problem.N + i * problem.num_columns; }
  /// Returns Q_ij.
  double entry(int i, int j) const {
    return math::dot(problem.num_columns, direction(i), direction(j));
  }
  /// Computes g_k^T x of m rows k, which is how w of these rows changes with x.
  /// @param directions g_k
  /// @param y          out: m numbers, and zeros up to a multiple of four
  void products(int m, const int* /*rows*/, const double* const* directions, const double* x,
                double* y) const {
    math::multiply_listed_rows(m, problem.num_columns, directions, x, y);
  }
  double constant(int i) const { return problem.b[i]; }
  /// Returns w_i at x, without the row's own compliance.
  double value(int i, const double* x) const {
    return math::dot(problem.num_columns, direction(i), x) + problem.b[i];
  }
  /// Computes w at x.
  void values(const double* x, double* w) const {
    math::multiply_rows(problem.num_rows, problem.num_columns, problem.N, x, problem.b, w);
  }
  bool proves_infeasible(std::span<const double> y) const {
    return numerics::proves_infeasible(problem, y);
  }
  /// Returns a lower bound y^T w = b^T y of |min(z, w)| of any z, for y that proves_infeasible.
  double calc_least_residual(std::span<const double> y) const {
    double sum = 0;
    for (const double x : y) sum += x;
    return -math::dot(problem.num_rows, problem.b, y.data()) / sum;
  }
  /// Returns false, because N N^T is always positive semidefinite.
  static bool proves_indefinite(std::span<const double>, double) { return false; }
  bool has_bounds() const { return problem.bounds != nullptr; }
  /// Returns the bound of |z_i|; infinite if the row has z_i >= 0.
  double bound(int i) const { return numerics::bound(problem, i); }
  double compliance(int i) const { return problem.compliance ? problem.compliance[i] : 0; }
  /// Returns a bound on the magnitude of the terms that sum to w_i at x_hat.
  double magnitude(int i) const {
    const int n = problem.num_columns;
    return std::abs(problem.b[i]) +
           std::sqrt(entry(i, i) * math::dot(n, problem.u_hat, problem.u_hat));
  }
};

/// The operations on a dense problem.
struct DenseOperator {
  static constexpr bool kXIsW = true;
  DenseLcp problem;

  int size() const { return problem.size; }
  int x_size() const { return problem.size; }
  const double* x_hat() const { return problem.r; }
  const double* direction(int i) const { return problem.Q + i * problem.size; }
  double entry(int i, int j) const { return direction(j)[i]; }
  static void products(int m, const int* rows, const double* const* /*directions*/, const double* x,
                       double* y) {
    math::gather(m, rows, x, y);
  }
  static constexpr double constant(int) { return 0; }
  double value(int i, const double* x) const { return x[i]; }
  void values(const double* x, double* w) const {
    if (w != x) std::copy_n(x, problem.size, w);
  }
  bool proves_infeasible(std::span<const double> y) const {
    return numerics::proves_infeasible(problem, y);
  }
  static double calc_least_residual(std::span<const double>) { return 0; }
  /// Returns true if (Q y)_j^2 is far above `energy` times Q_jj for some j. A positive semidefinite
  /// Q satisfies (Q y)_j^2 <= (y^T Q y) Q_jj (Cauchy-Schwarz).
  /// @param energy a bound >= y^T Q y
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
  static constexpr bool has_bounds() { return false; }
  static constexpr double bound(int) { return std::numeric_limits<double>::infinity(); }
  static constexpr double compliance(int) { return 0; }
  double magnitude(int i) const { return std::abs(problem.r[i]); }
};

}  // namespace stiction::numerics
