#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/model_parameters.hpp"

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

  /// Evaluates the function: constant before the first knot, linear beyond the last.
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

  /// The function between two knots, y = y0 + t (c1 + t (c2 + t c3)), t = x - x0 in [0, length].
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

// Normal laws and friction regularizations that are given by tables; [theory:law-tables].

/// A normal law f(x, xdot) = F(x) D(xdot): F is a table, D a table or (1 + d xdot)_+.
struct NormalLawTable {
  std::vector<double> penetration = {};  // strictly increasing [m]; < 0 while bodies are apart
  std::vector<double> force = {};        // F, not decreasing, the first is 0 [N]
  double dissipation = 0;                // d >= 0 [s/m], if there is no factor
  std::vector<double> rate = {};         // xdot, strictly increasing [m/s]; empty: no table
  std::vector<double> factor = {};       // D, not decreasing, >= 0 [-]
};

/// A normal law of tables. F starts at 0, D constant; both continue along their last tangents.
class TabulatedLaw final : public CustomLaw {
 public:
  /// @throws Error with the list, the index and the value of the first fault
  explicit TabulatedLaw(NormalLawTable table);

  NormalForce calc_force(double x, double xdot) const noexcept override;
  double reach() const noexcept override;
  const NormalLawTable* table() const noexcept override { return &table_; }

 private:
  NormalLawTable table_;
  MonotoneSpline force_, factor_;
};

/// A friction regularization f(s) by its values, where s is the slip per slip tolerance.
struct FrictionLawTable {
  std::vector<double> slip = {};      // strictly increasing, the first is 0 [-]
  std::vector<double> friction = {};  // f, not decreasing, from 0 to 1; f / s does not increase [-]
};

/// A tabulated friction regularization: 1 beyond the last knot, straight where f / s would grow.
class TabulatedFriction {
 public:
  /// @throws Error with the list, the index and the value of the first fault
  explicit TabulatedFriction(FrictionLawTable table);

  /// F(s) / s^2, f(s) / s and f'(s), see laws::SlipFunction.
  struct Values {
    double F_over_s2 = 0, f_over_s = 0, df_ds = 0;
  };
  /// @param s slip >= 0 [-]
  Values calc(double s) const noexcept;

  const FrictionLawTable& table() const { return table_; }

 private:
  FrictionLawTable table_;
  MonotoneSpline spline_;
};

/// Makes a table the normal law of all contacts, or the friction law.
/// @throws Error if the table is no law; see TabulatedLaw and TabulatedFriction
void set_law(NormalLawTable table, ModelParameters* parameters);
void set_law(FrictionLawTable table, ModelParameters* parameters);

}  // namespace stiction::contact
