#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stiction::contact {

/// A function given by a table of its values, interpolated by cubics. It is at least as smooth as
/// C1 where the data allow, and it never decreases: the slope at a knot is that of the parabola
/// through three points, limited to three times the smaller slope of the chords beside it. Source:
/// [fritsch1980], [hyman1983]; [theory:law-tables].
class MonotoneSpline {
 public:
  /// The value of the function, its slope, and the integral from the first knot.
  struct Point {
    double value = 0, slope = 0, integral = 0;
  };

  MonotoneSpline() = default;
  /// @param x knots, strictly increasing, at least two
  /// @param y values, not decreasing, of the same size
  /// @param names the names of both lists, for messages
  /// @throws Error with the index and the value of the first fault
  MonotoneSpline(std::vector<double> x, std::vector<double> y,
                 const std::pair<std::string, std::string>& names);

  /// Evaluates the function. Before the first knot it is constant, and beyond the last knot it
  /// continues along its tangent.
  Point calc(double x) const noexcept;

  /// The coefficients of the first interval, y = y0 + c1 t + c2 t^2 + c3 t^3.
  struct Coefficients {
    double c1, c2, c3;
  };
  Coefficients first() const { return {cubics_[0].c1, cubics_[0].c2, cubics_[0].c3}; }

  /// Replaces the cubic by the straight line in each interval in which `accepts` is false.
  /// @param accepts bool(const Cubic&)
  template <class F>
  void straighten_unless(F&& accepts) {
    for (Cubic& cubic : cubics_)
      if (!accepts(cubic)) cubic = make_line(cubic);
    sum_integrals();
  }

  /// The function between two knots, y = y0 + t (c1 + t (c2 + t c3)) with t = x - x0 in [0,
  /// length].
  struct Cubic {
    double x0, length, y0, c1, c2, c3;
    double integral;  // from the first knot to x0
    double calc_value(double t) const { return y0 + t * (c1 + t * (c2 + t * c3)); }
    double calc_slope(double t) const { return c1 + t * (2 * c2 + t * 3 * c3); }
    /// Returns the integral from the first knot to x0 + t.
    double calc_integral(double t) const {
      return integral + t * (y0 + t * (c1 / 2 + t * (c2 / 3 + t * c3 / 4)));
    }
  };

 private:
  static Cubic make_line(const Cubic& cubic);
  void sum_integrals();

  std::vector<double> x_, y_;
  std::vector<Cubic> cubics_;  // one for each interval
};

}  // namespace stiction::contact
