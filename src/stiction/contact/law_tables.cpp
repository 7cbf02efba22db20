#include "stiction/contact/law_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/error.hpp"

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

void require(bool is_right, const char* name, double value, const std::string& rule) {
  if (!is_right)
    throw Error(ErrorCode::kInvalidValue, name,
                "is " + base::to_text(value, 9) + ", must be " + rule);
}

/// True if f / s does not increase in an interval: s f' - f <= 0 at its largest value.
bool is_star_shaped(const MonotoneSpline::Cubic& c) {
  const auto excess = [&](double t) { return (c.x0 + t) * c.calc_slope(t) - c.calc_value(t); };
  const double bend = c.c3 != 0 ? -c.c2 / (3 * c.c3) : 0;
  constexpr double kRounding = 1e-15;
  return excess(0) <= kRounding && excess(c.length) <= kRounding &&
         (!(bend > 0 && bend < c.length) || excess(bend) <= kRounding);
}

void check_friction(const FrictionLawTable& table) {
  const auto &s = table.slip, &f = table.friction;
  require(s.front() == 0, "slip[0]", s.front(), "0");
  require(f.front() == 0, "friction[0]", f.front(), "0: friction vanishes without slip");
  require(f.back() == 1, "friction[-1]", f.back(), "1: a sliding contact has Coulomb's friction");
  for (std::size_t i = 1; i < s.size(); ++i) {
    const std::string name = "friction[" + std::to_string(i) + "]";
    require(f[i] <= 1, name.c_str(), f[i], "at most 1, Coulomb's friction");
    if (i == 1) {
      require(f[1] > 0, name.c_str(), f[1], "greater than 0: friction must begin with the slip");
      continue;
    }
    const double most = f[i - 1] / s[i - 1] * s[i];
    require(f[i] <= most * (1 + 1e-12), name.c_str(), f[i],
            "at most " + base::to_text(most, 9) + ", because f / s must not increase");
  }
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

TabulatedLaw::TabulatedLaw(NormalLawTable table)
    : table_(std::move(table)), force_(table_.penetration, table_.force, {"penetration", "force"}) {
  require(table_.force[0] == 0, "force[0]", table_.force[0],
          "0: a law that has a force at its first penetration would act at any distance; begin "
          "the table where the force vanishes");
  require(table_.force.back() > 0, "force[-1]", table_.force.back(), "greater than 0");
  require(table_.dissipation >= 0 && std::isfinite(table_.dissipation), "dissipation",
          table_.dissipation, "a finite number of at least 0 s/m");
  if (table_.rate.empty() && table_.factor.empty()) return;
  factor_ = MonotoneSpline(table_.rate, table_.factor, {"rate", "factor"});
  require(table_.factor[0] >= 0, "factor[0]", table_.factor[0],
          "at least 0: contact does not pull");
  require(table_.dissipation == 0, "dissipation", table_.dissipation,
          "0 if the law has a table of factors, which replaces it");
}

NormalForce TabulatedLaw::calc_force(double x, double xdot) const noexcept {
  const MonotoneSpline::Point F = force_.calc(x);
  double D = 0, dD = 0;
  if (table_.factor.empty()) {
    D = 1 + table_.dissipation * xdot;
    dD = table_.dissipation;
    if (D <= 0) D = dD = 0;
  } else {
    const MonotoneSpline::Point point = factor_.calc(xdot);
    D = point.value;
    dD = point.slope;
  }
  return {.f = F.value * D, .df_dx = F.slope * D, .df_dxdot = F.value * dD};
}

double TabulatedLaw::reach() const noexcept { return std::fmax(0, -table_.penetration.front()); }

TabulatedFriction::TabulatedFriction(FrictionLawTable table)
    : table_(std::move(table)), spline_(table_.slip, table_.friction, {"slip", "friction"}) {
  check_friction(table_);
  spline_.straighten_unless(is_star_shaped);
}

TabulatedFriction::Values TabulatedFriction::calc(double s) const noexcept {
  const double end = table_.slip.back();
  if (s > end) {
    const double F = spline_.calc(end).integral + (s - end);
    return {F / s / s, 1 / s, 0};
  }
  if (s < table_.slip[1]) {  // without division by s, which may be 0
    const auto [c1, c2, c3] = spline_.first();
    return {c1 / 2 + s * (c2 / 3 + s * c3 / 4), c1 + s * (c2 + s * c3),
            std::fmax(0, c1 + s * (2 * c2 + s * 3 * c3))};
  }
  const MonotoneSpline::Point at = spline_.calc(s);
  return {at.integral / s / s, at.value / s, at.slope};
}

void set_law(NormalLawTable table, ModelParameters* parameters) {
  parameters->custom_law = std::make_shared<const TabulatedLaw>(std::move(table));
  parameters->normal_law = NormalLawKind::custom;
}

void set_law(FrictionLawTable table, ModelParameters* parameters) {
  parameters->custom_friction = std::make_shared<const TabulatedFriction>(std::move(table));
  parameters->friction_law = FrictionRegularizationKind::custom;
}

}  // namespace stiction::contact
