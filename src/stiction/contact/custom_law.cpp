#include "stiction/contact/custom_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

std::string to_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

[[noreturn]] void refuse(double x, double xdot, const std::string& what) {
  throw Error(ErrorCode::kInvalidValue, "normal law",
              "at x = " + to_text(x) + " m and xdot = " + to_text(xdot) + " m/s " + what);
}

/// Zero, and both ways from a billionth of the largest on, four to a decade.
std::vector<double> make_grid(double largest) {
  constexpr int kPerDecade = 4, kDecades = 9;
  std::vector<double> grid = {0};
  for (int i = 0; i <= kPerDecade * kDecades; ++i) {
    const double value = largest * std::pow(10.0, -static_cast<double>(i) / kPerDecade);
    grid.push_back(value);
    grid.push_back(-value);
  }
  return grid;
}

void check_value(double value, const char* name, const char* unit, const char* reason, double x,
                 double xdot) {
  if (!std::isfinite(value))
    refuse(x, xdot, std::string(name) + " is " + to_text(value) + "; it must be finite everywhere");
  if (value < 0)
    refuse(x, xdot,
           std::string(name) + " is " + to_text(value) + " " + unit +
               ", must be at least 0: " + reason);
}

/// A derivative lies between the differences to both sides, which are equal but at a kink.
template <class F>
void check_derivative(const F& f, double at, double step, double derivative, const char* name,
                      double x, double xdot) {
  const double low = at - step, high = at + step, middle = f(at);
  const double left = (middle - f(low)) / (at - low), right = (f(high) - middle) / (high - at);
  // Steps of a millionth: what f bends over one, and its rounding.
  const double largest = std::max(std::abs(left), std::abs(right));
  const double rounding =
      8 * std::numeric_limits<double>::epsilon() * std::max(f(high), middle) / step;
  const double tolerance = 1e-4 * largest + rounding;
  if (derivative >= std::min(left, right) - tolerance &&
      derivative <= std::max(left, right) + tolerance)
    return;
  refuse(x, xdot,
         std::string(name) + " is " + to_text(derivative) + ", but f rises by " + to_text(left) +
             " before and by " + to_text(right) +
             " after this point; give the derivative of the force that the law returns");
}

void check_rise(double before, double at, const char* name, double x, double xdot) {
  if (at >= before * (1 - 1e-12)) return;
  refuse(x, xdot,
         "f is " + to_text(at) + " N, but " + to_text(before) + " N at the last " + name +
             " of the grid before; it must not fall");
}

/// Between points of the grid a force may fall whose derivatives at them say nothing of it.
void check_rises(const CustomLaw& law, std::vector<double> penetrations,
                 std::vector<double> rates) {
  std::sort(penetrations.begin(), penetrations.end());
  std::sort(rates.begin(), rates.end());
  std::vector<double> before(rates.size(), 0.0);  // f at the last penetration, by rate
  for (const double x : penetrations) {
    double slower = 0;  // f at the last rate
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double f = law.calc_force(x, rates[i]).f;
      check_rise(before[i], f, "penetration", x, rates[i]);
      check_rise(slower, f, "rate", x, rates[i]);
      before[i] = slower = f;
    }
  }
}

}  // namespace

void check_normal_law(const CustomLaw& law, const LawRange& range) {
  if (!(range.max_penetration > 0) || !std::isfinite(range.max_penetration) ||
      !(range.max_rate > 0) || !std::isfinite(range.max_rate))
    throw Error(ErrorCode::kInvalidValue, "range",
                "max_penetration is " + to_text(range.max_penetration) + " m and max_rate " +
                    to_text(range.max_rate) + " m/s; both must be positive and finite");
  if (const double reach = law.reach(); !(reach >= 0) || !std::isfinite(reach))
    throw Error(ErrorCode::kInvalidValue, "normal law",
                "reach() is " + to_text(reach) + " m, must be at least 0 and finite");
  std::vector<double> penetrations = make_grid(range.max_penetration);
  // Where the solver has no contact beside others, it evaluates the law far apart.
  constexpr double kFarApart = 1;  // [m]
  penetrations.push_back(-kFarApart);
  const std::vector<double> rates = make_grid(range.max_rate);
  const auto step_of = [](double value, double largest) {
    return 1e-6 * std::max(std::abs(value), 1e-9 * largest);
  };
  for (const double x : penetrations) {
    for (const double xdot : rates) {
      const NormalForce at = law.calc_force(x, xdot);
      check_value(at.f, "f", "N", "contact does not pull", x, xdot);
      check_value(at.df_dx, "df/dx", "N/m",
                  "a force that falls with penetration has no convex cost", x, xdot);
      check_value(at.df_dxdot, "df/dxdot", "N s/m",
                  "damping that falls with the approach speed feeds energy in", x, xdot);
      check_derivative([&](double value) { return law.calc_force(value, xdot).f; }, x,
                       step_of(x, range.max_penetration), at.df_dx, "df/dx", x, xdot);
      check_derivative([&](double value) { return law.calc_force(x, value).f; }, xdot,
                       step_of(xdot, range.max_rate), at.df_dxdot, "df/dxdot", x, xdot);
    }
  }
  check_rises(law, penetrations, rates);
}

namespace {

template <class F>
double integrate(const F& f, double a, double f_a, double b, double f_b, double f_m,
                 double tolerance, int depth) {
  const double m = 0.5 * (a + b), h = b - a;
  const double f_l = f(0.5 * (a + m)), f_r = f(0.5 * (m + b));
  const double coarse = h / 6 * (f_a + 4 * f_m + f_b);
  const double left = h / 12 * (f_a + 4 * f_l + f_m), right = h / 12 * (f_m + 4 * f_r + f_b);
  const double error = left + right - coarse;
  if (depth == 0 || std::abs(error) <= 15 * tolerance) return left + right + error / 15;
  return integrate(f, a, f_a, m, f_m, f_l, tolerance / 2, depth - 1) +
         integrate(f, m, f_m, b, f_b, f_r, tolerance / 2, depth - 1);
}

}  // namespace

double integrate_impulse(const CustomLaw& law, double dt, double x0, double v) {
  const auto n = [&](double u) { return dt * law.calc_force(x0 - dt * u, -u).f; };
  constexpr double kFarthest = 1e3;  // [m/s]
  if (n(v) <= 0) return 0;
  // n does not rise: the shortest power of two beyond which there is none.
  double length = kFarthest;
  while (length > 1e-12 && n(v + 0.5 * length) <= 0) length *= 0.5;
  const double end = v + length, f_v = n(v), f_m = n(v + 0.5 * length);
  constexpr int kMaxDepth = 40;
  return integrate(n, v, f_v, end, n(end), f_m, 1e-11 * length * std::max(f_v / 16, f_m),
                   kMaxDepth);
}

}  // namespace stiction::contact
