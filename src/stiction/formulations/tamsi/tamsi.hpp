#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/hunt_crossley.hpp"
#include "stiction/math/spatial.hpp"

namespace stiction::formulations {

/// `tamsi`: Hunt-Crossley's normal impulse and Coulomb friction within it, both of the end of the
/// step:
///
///     gamma_n = n(v_n),   gamma_t = -mu r(x) gamma_n t,
///     x = |v_t|_eps / v_s,   t = v_t / |v_t|_eps,   |v_t|_eps = sqrt(v_t.v_t + eps_v^2),
///
/// with r(x) = x (2 - x) below x = 1 and 1 above, eps_v = v_s / 100. Friction takes its bound from
/// a normal impulse that does not feel slip, so the field has no potential and G is not symmetric:
/// a step may have several solutions, or none. Source: [castro2020]; [theory:tamsi].
struct Tamsi {
  struct Row {
    laws::HuntCrossley<double> normal;
    double mu = 0;
    double stiction_tolerance = 0;  // v_s [m/s]
  };
  struct State {
    laws::NormalImpulse<double> normal;
    math::Vector3 t;          // soft direction of slip, |t| < 1; its last entry is 0
    double soft_slip = 0;     // |v_t|_eps > 0 [m/s]
    double bound_share = 0;   // r(x), in [0, 1]
    double bound_growth = 0;  // r'(x), in [0, 2]
  };

  /// Relative to v_s: slips this small have no direction of their own.
  static constexpr double kSoftening = 1e-2;

  /// @param time_step of the step or sub-step [s]
  static Row make_row(const contact::Contact& contact, double time_step,
                      const contact::ModelParameters& parameters);
  /// @return gamma [N s]
  static math::Vector3 calc_impulse(const Row& row, const math::Vector3& v_c, State* state);
  /// G = -dgamma/dv_c [kg]:
  ///   G_tt = mu gamma_n ((r / |v_t|_eps) (I - t t^T) + (r' / v_s) t t^T),
  ///   G_tn = mu r n' t,   G_nt = 0,   G_nn = -n'.
  static math::Matrix3 calc_gradient(const Row& row, const State& state);
  static bool is_slipping(const Row& row, const State& state) {
    return state.normal.n > 0 && state.soft_slip > row.stiction_tolerance;
  }
};

}  // namespace stiction::formulations
