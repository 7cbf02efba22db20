#include "stiction/contact/hertz_ellipse.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::contact {
namespace {

/// The integrals of the ellipse with the axis ratio k'.
struct EllipticIntegrals {
  double K = 0;  // complete elliptic integral of the first kind
  double S = 0;  // (K - E) / (m K), in [1/2, 1)
};

/// Computes the integrals by the arithmetic-geometric mean, in which no digits cancel.
EllipticIntegrals calc_integrals(double axis_ratio) {
  const double m = (1 - axis_ratio) * (1 + axis_ratio);
  double a = 1, b = axis_ratio, sum = 0.5, weight = 1;
  for (double c = std::sqrt(m); c > 1e-9 * a; weight *= 2) {
    const double next = 0.5 * (a + b);
    b = std::sqrt(a * b);
    c = c * c / (4 * next);
    a = next;
    if (m > 0) sum += weight * (c * c / m);
  }
  return {std::numbers::pi / (2 * a), sum};
}

/// Returns ln(kappa_2 / kappa_1) of an ellipse. It decreases as the axis ratio increases.
double calc_log_ratio(double axis_ratio) {
  const EllipticIntegrals at = calc_integrals(axis_ratio);
  return math::log((1 - at.S) / at.S) - 2 * math::log(axis_ratio);
}

/// Finds the axis ratio of a ratio of curvatures by the secant method in logarithms, in which the
/// function is almost a straight line. A step outside the bracket is replaced by its middle.
double find_axis_ratio(double curvature_ratio) {
  const double target = math::log(curvature_ratio);
  if (!(target > 1e-14)) return 1;
  // The ratio of the axes is between the powers -1 and -1/2 of the ratio of the curvatures.
  double low = -target, high = -0.5 * target;
  double y0 = high, f0 = calc_log_ratio(math::exp(y0)) - target;
  double y1 = -2.0 / 3 * target;  // close for circles and for long ellipses
  for (int i = 0; i < 60; ++i) {
    const double f1 = calc_log_ratio(math::exp(y1)) - target;
    (f1 > 0 ? low : high) = y1;
    if (std::abs(f1) <= 1e-14 * std::max(1.0, target) || high - low <= 1e-15 * target) break;
    double next = y1 - f1 * (y1 - y0) / (f1 - f0);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    y0 = y1;
    f0 = f1;
    y1 = next;
  }
  return math::exp(y1);
}

}  // namespace

HertzEllipse calc_hertz_ellipse(double kappa_1, double kappa_2) noexcept {
  const auto [least, most] = std::minmax(kappa_1, kappa_2);
  const double axis_ratio = find_axis_ratio(most / least);
  const EllipticIntegrals at = calc_integrals(axis_ratio);
  return {2 * std::numbers::pi / (3 * at.K) * std::sqrt(2 * at.S / least), axis_ratio};
}

}  // namespace stiction::contact
