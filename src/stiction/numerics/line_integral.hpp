#pragma once

#include <cmath>

namespace stiction::numerics {

/// An interval [a, b] and the integrand at its ends and at its midpoint.
struct IntegralInterval {
  double a = 0, b = 0;
  double f_a = 0, f_m = 0, f_b = 0;
};

/// Integrates f over an interval by adaptive Simpson quadrature with Richardson extrapolation.
/// @param f         continuous, may have kinks
/// @param tolerance estimated absolute error, > 0
/// @param depth     largest number of bisections
template <class Function>
double integrate(const Function& f, const IntegralInterval& interval, double tolerance, int depth) {
  const auto [a, b, f_a, f_m, f_b] = interval;
  const double m = 0.5 * (a + b), h = b - a;
  const double f_l = f(0.5 * (a + m)), f_r = f(0.5 * (m + b));
  const double coarse = h / 6 * (f_a + 4 * f_m + f_b);
  const double left = h / 12 * (f_a + 4 * f_l + f_m), right = h / 12 * (f_m + 4 * f_r + f_b);
  // The rule is of order 4: a bisection divides the error by 16.
  const double error = left + right - coarse;
  if (depth == 0 || std::abs(error) <= 15 * tolerance) return left + right + error / 15;
  const IntegralInterval low = {.a = a, .b = m, .f_a = f_a, .f_m = f_l, .f_b = f_m};
  const IntegralInterval high = {.a = m, .b = b, .f_a = f_m, .f_m = f_r, .f_b = f_b};
  return integrate(f, low, tolerance / 2, depth - 1) + integrate(f, high, tolerance / 2, depth - 1);
}

/// Integrates f from a to b with at most 20 bisections.
template <class Function>
double integrate(const Function& f, double a, double b, double tolerance) {
  const IntegralInterval whole = {
      .a = a, .b = b, .f_a = f(a), .f_m = f(0.5 * (a + b)), .f_b = f(b)};
  return integrate(f, whole, tolerance, 20);
}

}  // namespace stiction::numerics
