#pragma once

#include "stiction/contact/friction_regularization.hpp"
#include "stiction/contact/normal_law.hpp"
#include "stiction/formulations/formulation.hpp"

namespace stiction::formulations {

/// Friction of a `lagged` contact in all five directions of slip: two tangential, torsional about
/// the normal and two rolling. With u the slip and m = diag(mu_1 .. mu_5), the dissipation
///
///     l_f = gamma_n0 |m u|_s,   impulse = -gamma_n0 m (m u)_s
///
/// is the support function of MuJoCo's elliptic cone sum (gamma_i / mu_i)^2 <= gamma_n^2 at the
/// lagged normal impulse: convex, and equal to Lagged where only mu_1 = mu_2 act.
struct LaggedTorsion {
  using Vector6 = math::Vector6;  // [v_t1, v_t2, v_n, w_n, w_t1, w_t2] and its impulses
  using Matrix6 = math::Matrix6;
  using Slip = Eigen::Matrix<double, 5, 1>;

  struct Row {
    contact::HuntCrossley normal;
    double gamma_n0 = 0;        // [N s]
    Slip mu = Slip::Zero();     // [-, -, m, m, m]
    double slip_tolerance = 0;  // of m u [m/s]
  };
  struct State {
    contact::SoftNorm<5> slip;  // of m u
    contact::NormalImpulse normal;
  };

  /// @param eps_s slip tolerance of the tangential directions [m/s]
  static Row make_row(const ContactStart& start, double eps_s);
  static double calc_cost(const Row& row, const Vector6& v_c);
  static Vector6 calc_impulse(const Row& row, const Vector6& v_c, State* state);
  static Matrix6 calc_hessian(const Row& row, const State& state,
                              Curvature curvature = Curvature::kExact);
  static bool is_slipping(const State& state) { return state.slip.is_slipping(); }
};

}  // namespace stiction::formulations
