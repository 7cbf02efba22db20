#include "stiction/contact/monotone_spline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/base/number_text.hpp"

namespace stiction::contact {
namespace {

[[noreturn]] void refuse(const std::string& name, std::size_t index, double value,
                         const std::string& rule) {
  throw Error(
      ErrorCode::kInvalidValue, name,
      "entry " + std::to_string(index) + " is " + base::to_text(value, 9) + ", must be " + rule);
}

void check(const std::vector<double>& x, const std::vector<double>& y,
           const std::pair<std::string, std::string>& names) {
  if (x.size() != y.size() || x.size() < 2)
    throw Error(ErrorCode::kWrongShape, names.second,
                "has " + std::to_string(y.size()) + " entries and " + names.first + " has " +
                    std::to_string(x.size()) + "; both must have the same number, at least 2");
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) refuse(names.first, i, x[i], "finite");
    if (!std::isfinite(y[i])) refuse(names.second, i, y[i], "finite");
    if (i == 0) continue;
    if (!(x[i] > x[i - 1]))
      refuse(names.first, i, x[i],
             "greater than the entry before it, " + base::to_text(x[i - 1], 9));
    if (!(y[i] >= y[i - 1]))
      refuse(names.second, i, y[i],
             "at least the entry before it, " + base::to_text(y[i - 1], 9) +
                 ": the law must not decrease");
    if (!std::isfinite((y[i] - y[i - 1]) / (x[i] - x[i - 1])))
      refuse(names.first, i, x[i], "so far from the entry before it that the slope is finite");
  }
}

/// Returns the slope at the middle of three points, of the parabola through them, limited such that
/// the cubics beside it do not decrease.
/// @param h, chord lengths and slopes of the intervals before and after the point
double calc_inner_slope(double h0, double chord0, double h1, double chord1) {
  const double parabola = (h1 * chord0 + h0 * chord1) / (h0 + h1);
  return std::clamp(parabola, 0.0, 3 * std::min(chord0, chord1));
}

/// Returns the slope at the end of the parabola through three points, limited in the same way.
/// @param h0, chord0 the interval at the end
double calc_end_slope(double h0, double chord0, double h1, double chord1) {
  const double parabola = chord0 + h0 * (chord0 - chord1) / (h0 + h1);
  return std::clamp(parabola, 0.0, 3 * chord0);
}

}  // namespace

MonotoneSpline::MonotoneSpline(std::vector<double> x, std::vector<double> y,
                               const std::pair<std::string, std::string>& names)
    : x_(std::move(x)), y_(std::move(y)) {
  check(x_, y_, names);
  const std::size_t n = x_.size() - 1;
  std::vector<double> h(n), chord(n), slope(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    h[i] = x_[i + 1] - x_[i];
    chord[i] = (y_[i + 1] - y_[i]) / h[i];
  }
  for (std::size_t i = 1; i < n; ++i)
    slope[i] = calc_inner_slope(h[i - 1], chord[i - 1], h[i], chord[i]);
  slope[0] = n > 1 ? calc_end_slope(h[0], chord[0], h[1], chord[1]) : chord[0];
  slope[n] = n > 1 ? calc_end_slope(h[n - 1], chord[n - 1], h[n - 2], chord[n - 2]) : chord[0];
  for (std::size_t i = 0; i < n; ++i)
    cubics_.push_back({.x0 = x_[i],
                       .length = h[i],
                       .y0 = y_[i],
                       .c1 = slope[i],
                       .c2 = (3 * chord[i] - 2 * slope[i] - slope[i + 1]) / h[i],
                       .c3 = (slope[i] + slope[i + 1] - 2 * chord[i]) / (h[i] * h[i]),
                       .integral = 0});
  sum_integrals();
}

MonotoneSpline::Cubic MonotoneSpline::make_line(const Cubic& cubic) {
  Cubic line = cubic;
  line.c1 = cubic.c1 + cubic.length * (cubic.c2 + cubic.length * cubic.c3);
  line.c2 = line.c3 = 0;
  return line;
}

void MonotoneSpline::sum_integrals() {
  double sum = 0;
  for (Cubic& c : cubics_) {
    c.integral = sum;
    sum = c.calc_integral(c.length);
  }
}

MonotoneSpline::Point MonotoneSpline::calc(double x) const noexcept {
  if (x < x_.front()) return {y_.front(), 0, y_.front() * (x - x_.front())};
  const auto above = std::upper_bound(x_.begin() + 1, x_.end() - 1, x);
  const Cubic& c = cubics_[above - x_.begin() - 1];
  const double t = x - c.x0;
  if (t <= c.length) return {c.calc_value(t), std::fmax(0, c.calc_slope(t)), c.calc_integral(t)};
  // Beyond the last knot. NaN gets here too, and stays NaN.
  const double u = t - c.length, slope = std::fmax(0, c.calc_slope(c.length));
  return {y_.back() + slope * u, slope,
          c.calc_integral(c.length) + u * (y_.back() + u * slope / 2)};
}

}  // namespace stiction::contact
