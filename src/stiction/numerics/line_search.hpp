#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/base/assert.hpp"

/// Exact line search on a convex function of one variable.
namespace stiction::numerics {

/// The first and second derivatives of the cost l(alpha) along the search direction.
struct Slope {
  double slope = 0;      // l'(alpha)
  double curvature = 0;  // l''(alpha) >= 0
};

struct LineSearchOptions {
  double max_step = 1.5;
  /// Stop when |l'(alpha)| <= slope_tolerance |l'(0)|, which leaves 1e-6 of the decrease.
  double slope_tolerance = 1e-3;
  /// Stop when the bracket is this narrow, relative to max_step. The slope may jump, such as where
  /// a contact with a stiff law opens. The root is then the place of the jump.
  double step_tolerance = 1e-10;
  int max_evaluations = 100;
};

struct LineSearchResult {
  double step = 0;
  int num_evaluations = 0;
  bool converged = false;
};

/// Finds the root of the nondecreasing function l'(alpha) in (0, max_step]. Returns max_step if l'
/// is still negative there. The method is Newton's method on l', safeguarded by bisection.
/// @param initial_slope l'(0) < 0
/// @param evaluate      alpha -> Slope; the last call is at the step that is returned
template <class Evaluate>
LineSearchResult minimize_along_line(double initial_slope, const LineSearchOptions& options,
                                     Evaluate&& evaluate) {
  STICTION_ASSERT(initial_slope < 0);
  STICTION_ASSERT(options.max_step >= 0);
  const double tolerance = options.slope_tolerance * std::abs(initial_slope);
  double low = 0;
  double high = options.max_step;
  bool is_bracketed = false;  // l'(high) > 0 is known
  double low_slope = initial_slope;
  double high_slope = 0;
  double width = high;  // width of the bracket three evaluations ago
  double alpha = std::min(1.0, options.max_step);
  constexpr int kMaxNewtonEvaluations = 40;
  LineSearchResult result;
  while (result.num_evaluations < options.max_evaluations) {
    const Slope at = evaluate(alpha);
    ++result.num_evaluations;
    result.step = alpha;
    if (std::abs(at.slope) <= tolerance) {
      result.converged = true;
      return result;
    }
    if (at.slope < 0) {
      low = alpha;
      low_slope = at.slope;
      if (alpha >= options.max_step) {
        result.converged = true;
        return result;
      }
    } else {
      high = alpha;
      high_slope = at.slope;
      is_bracketed = true;
    }
    if (high - low <= options.step_tolerance * options.max_step) {
      result.converged = true;
      return result;
    }
    // Newton's method gives the next point. If that point lies outside the bracket, the secant
    // between the ends of the bracket replaces it. If three evaluations did not halve the bracket,
    // as happens where the slope jumps, the next point is the midpoint. These rules may halve the
    // bracket only once in six evaluations, so late evaluations always bisect.
    double next = at.curvature > 0 ? alpha - at.slope / at.curvature : options.max_step;
    if (!is_bracketed) {
      next = next > low ? std::min(next, options.max_step) : options.max_step;
    } else {
      if (!(next > low && next < high))
        next = low - low_slope * (high - low) / (high_slope - low_slope);
      if (result.num_evaluations % 3 == 0) {
        if (high - low > 0.5 * width) next = 0.5 * (low + high);
        width = high - low;
      }
      if (result.num_evaluations > kMaxNewtonEvaluations) next = 0.5 * (low + high);
      if (!(next > low && next < high)) next = 0.5 * (low + high);
    }
    alpha = next;
  }
  return result;
}

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
