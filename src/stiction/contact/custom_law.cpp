#include "stiction/contact/custom_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/line_search.hpp"

namespace stiction::contact {
namespace {

/// A point at which a law is checked.
struct LawPoint {
  double x = 0;     // penetration [m]
  double xdot = 0;  // its rate [m/s]
};

[[noreturn]] void refuse(const LawPoint& at, const std::string& problem) {
  throw Error(ErrorCode::kInvalidValue, "normal law",
              "at x = " + base::to_text(at.x) + " m and xdot = " + base::to_text(at.xdot) +
                  " m/s, " + problem);
}

/// Returns 0 and values of both signs from a billionth of `largest` to `largest`, four per decade.
std::vector<double> make_grid(double largest) {
  constexpr int kPerDecade = 4, kDecades = 9;
  std::vector<double> grid = {0};
  for (int i = 0; i <= kPerDecade * kDecades; ++i) {
    const double value = largest * math::exp(-std::numbers::ln10 * i / kPerDecade);
    grid.push_back(value);
    grid.push_back(-value);
  }
  return grid;
}

void check_value(double value, const char* name, const char* unit, const char* reason,
                 const LawPoint& at) {
  if (!std::isfinite(value))
    refuse(at,
           std::string(name) + " is " + base::to_text(value) + "; it must be finite everywhere");
  if (value < 0)
    refuse(at, std::string(name) + " is " + base::to_text(value) + " " + unit +
                   ", must be at least 0: " + reason);
}

/// Checks that a derivative lies between the difference quotients to both sides. These two agree
/// except at a kink.
/// @param value x or xdot of the point, the argument of f
template <class F>
void check_derivative(const F& f, double value, double step, double derivative, const char* name,
                      const LawPoint& at) {
  const double low = value - step, high = value + step, middle = f(value);
  const double left = (middle - f(low)) / (value - low);
  const double right = (f(high) - middle) / (high - value);
  // The tolerance covers the curvature of f over a step of a millionth, and the rounding of f.
  const double largest = std::max(std::abs(left), std::abs(right));
  const double rounding =
      8 * std::numeric_limits<double>::epsilon() * std::max(f(high), middle) / step;
  const double tolerance = 1e-4 * largest + rounding;
  if (derivative >= std::min(left, right) - tolerance &&
      derivative <= std::max(left, right) + tolerance)
    return;
  refuse(at, std::string(name) + " is " + base::to_text(derivative) + ", but the slope of f is " +
                 base::to_text(left) + " before and " + base::to_text(right) +
                 " after this point; return the derivative of the force");
}

/// Checks that f is not smaller than at the point before it on the grid.
void check_increase(double before, double f, const char* name, const LawPoint& at) {
  if (f >= before * (1 - 1e-12)) return;
  refuse(at, "f is " + base::to_text(f) + " N, but " + base::to_text(before) +
                 " N at the next smaller " + name + " of the grid; it must not decrease");
}

/// Checks that the force does not decrease between grid points, which derivatives cannot show.
void check_monotonicity(const CustomLaw& law, std::vector<double> penetrations,
                        std::vector<double> rates) {
  std::sort(penetrations.begin(), penetrations.end());
  std::sort(rates.begin(), rates.end());
  std::vector<double> before(rates.size(), 0.0);  // f at the last penetration, by rate
  for (const double x : penetrations) {
    double slower = 0;  // f at the last rate
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const LawPoint at = {x, rates[i]};
      const double f = law.calc_force(x, rates[i]).f;
      check_increase(before[i], f, "penetration", at);
      check_increase(slower, f, "rate", at);
      before[i] = slower = f;
    }
  }
}

/// Checks the values and derivatives of a law at one point.
void check_point(const CustomLaw& law, const LawRange& range, const LawPoint& at) {
  const auto step_of = [](double value, double largest) {
    return 1e-6 * std::max(std::abs(value), 1e-9 * largest);
  };
  const NormalForce force = law.calc_force(at.x, at.xdot);
  check_value(force.f, "f", "N", "contact does not pull", at);
  check_value(force.df_dx, "df/dx", "N/m",
              "a force that decreases with penetration has no convex cost", at);
  check_value(force.df_dxdot, "df/dxdot", "N s/m",
              "damping that decreases with the approach speed adds energy", at);
  check_derivative([&](double value) { return law.calc_force(value, at.xdot).f; }, at.x,
                   step_of(at.x, range.max_penetration), force.df_dx, "df/dx", at);
  check_derivative([&](double value) { return law.calc_force(at.x, value).f; }, at.xdot,
                   step_of(at.xdot, range.max_rate), force.df_dxdot, "df/dxdot", at);
}

}  // namespace

void check_normal_law(const CustomLaw& law, const LawRange& range) {
  if (!(range.max_penetration > 0) || !std::isfinite(range.max_penetration) ||
      !(range.max_rate > 0) || !std::isfinite(range.max_rate))
    throw Error(ErrorCode::kInvalidValue, "range",
                "max_penetration is " + base::to_text(range.max_penetration) +
                    " m and max_rate is " + base::to_text(range.max_rate) +
                    " m/s; both must be positive and finite");
  if (const double reach = law.reach(); !(reach >= 0) || !std::isfinite(reach))
    throw Error(ErrorCode::kInvalidValue, "normal law",
                "reach() is " + base::to_text(reach) + " m, must be at least 0 and finite");
  std::vector<double> penetrations = make_grid(range.max_penetration);
  // The solver evaluates unused SIMD lanes at a contact with this gap.
  constexpr double kUnusedLaneGap = 1;  // [m]
  penetrations.push_back(-kUnusedLaneGap);
  const std::vector<double> rates = make_grid(range.max_rate);
  for (const double x : penetrations)
    for (const double xdot : rates) check_point(law, range, {x, xdot});
  check_monotonicity(law, penetrations, rates);
}

double integrate_impulse(const CustomLaw& law, double dt, double x0, double v) {
  const auto n = [&](double u) { return dt * law.calc_force(x0 - dt * u, -u).f; };
  constexpr double kMaxLength = 1e3;  // [m/s]
  if (n(v) <= 0) return 0;
  // n does not increase with v. Halve the interval while n vanishes in its upper half.
  double length = kMaxLength;
  while (length > 1e-12 && n(v + 0.5 * length) <= 0) length *= 0.5;
  const double end = v + length, n_v = n(v), n_m = n(v + 0.5 * length);
  constexpr int kMaxDepth = 40;
  return numerics::integrate(n, {.a = v, .b = end, .f_a = n_v, .f_m = n_m, .f_b = n(end)},
                             1e-11 * length * std::max(n_v / 16, n_m), kMaxDepth);
}

}  // namespace stiction::contact
