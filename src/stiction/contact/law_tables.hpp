#pragma once

#include <memory>
#include <vector>

#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/monotone_spline.hpp"

/// Normal laws and friction regularizations that are given by tables; [theory:law-tables].
namespace stiction::contact {

/// A normal law f(x, xdot) = F(x) D(xdot) by its values. F is a table. D is a table too, or
/// (1 + d xdot)_+.
struct NormalLawTable {
  std::vector<double> penetration = {};  // strictly increasing [m]; < 0 while bodies are apart
  std::vector<double> force = {};        // F, not decreasing, the first is 0 [N]
  double dissipation = 0;                // d >= 0 [s/m], if there is no factor
  std::vector<double> rate = {};         // xdot, strictly increasing [m/s]; empty: no table
  std::vector<double> factor = {};       // D, not decreasing, >= 0 [-]
};

/// A normal law of tables. F is 0 before its first knot, and continues along its tangent beyond the
/// last one, as D does. Before its first knot D is constant.
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

/// A friction regularization f(s) by its values, where s is the slip in units of the slip
/// tolerance.
struct FrictionLawTable {
  std::vector<double> slip = {};      // strictly increasing, the first is 0 [-]
  std::vector<double> friction = {};  // f, not decreasing, from 0 to 1; f / s does not increase [-]
};

/// A friction regularization of a table. f is 1 beyond the last knot. Intervals in which a cubic
/// would let f / s increase are straight.
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
