#pragma once

#include <cmath>

namespace stiction::numerics {

/// Computes the integral of f from a to b by adaptive Simpson quadrature.
/// @param f         continuous, may have kinks
/// @param tolerance estimated absolute error, > 0; halved intervals stop at 2^-20 of the length
template <class Function>
double integrate(Function&& f, double a, double b, double tolerance) {
  struct Interval {
    double a, b, f_a, f_m, f_b;
    double simpson() const { return (b - a) / 6 * (f_a + 4 * f_m + f_b); }
  };
  const auto refine = [&](const auto& self, const Interval& whole, double allowed,
                          int depth) -> double {
    const double m = 0.5 * (whole.a + whole.b);
    const Interval left{whole.a, m, whole.f_a, f(0.5 * (whole.a + m)), whole.f_m};
    const Interval right{m, whole.b, whole.f_m, f(0.5 * (m + whole.b)), whole.f_b};
    const double sum = left.simpson() + right.simpson();
    const double change = sum - whole.simpson();
    // Simpson's rule is of order 4: halving the interval divides the error by 16.
    if (depth == 0 || std::abs(change) <= 15 * allowed) return sum + change / 15;
    return self(self, left, 0.5 * allowed, depth - 1) +
           self(self, right, 0.5 * allowed, depth - 1);
  };
  constexpr int kMaxDepth = 20;
  return refine(refine, {a, b, f(a), f(0.5 * (a + b)), f(b)}, tolerance, kMaxDepth);
}

}  // namespace stiction::numerics
