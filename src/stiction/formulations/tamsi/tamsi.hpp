#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/hunt_crossley.hpp"
#include "stiction/math/spatial.hpp"

namespace stiction::formulations {

/// `tamsi`: Hunt and Crossley's normal impulse and Coulomb friction, both at the end of the step:
///
///     gamma_n = n(v_n),   gamma_t = -mu r(x) gamma_n t,
///     x = |v_t|_eps / v_s,   t = v_t / |v_t|_eps,   |v_t|_eps = sqrt(v_t.v_t + eps_v^2),
///
/// with r(x) = x (2 - x) for x < 1 and r = 1 above, and eps_v = v_s / 100. The normal impulse does
/// not depend on slip, so the impulse has no potential and G is not symmetric. A step may have
/// several solutions, or no solution. Source: [castro2020]; [theory:tamsi].
struct Tamsi {
  /// The data of a contact's law, fixed during a step or sub-step.
  struct Parameters {
    laws::HuntCrossley<double> normal;
    double mu = 0;
    double stiction_tolerance = 0;  // v_s [m/s]
  };
  /// The law at one velocity.
  struct State {
    laws::NormalImpulse<double> normal;
    math::Vector3 t;       // regularized direction of slip, |t| < 1; its last entry is 0
    double slip_norm = 0;  // |v_t|_eps > 0 [m/s]
    double r = 0;          // r(x), in [0, 1]
    double dr_dx = 0;      // r'(x), in [0, 2]
  };

  /// eps_v / v_s [-].
  static constexpr double kRelativeEpsilon = 1e-2;

  /// Makes the fixed parameters of a contact.
  /// @param time_step duration of the step or sub-step [s]
  static Parameters make_parameters(const contact::Contact& contact, double time_step,
                                    const contact::ModelParameters& model);
  /// Computes the impulse, and the state from which calc_gradient starts.
  /// @return gamma = [t1, t2, n] [N s]
  static math::Vector3 calc_impulse(const Parameters& p, const math::Vector3& v_c, State* state);
  /// Computes G = -dgamma/dv_c [kg]:
  ///   G_tt = mu gamma_n ((r / |v_t|_eps) (I - t t^T) + (r' / v_s) t t^T),
  ///   G_tn = mu r n' t,   G_nt = 0,   G_nn = -n'.
  static math::Matrix3 calc_gradient(const Parameters& p, const State& state);
  static bool is_slipping(const Parameters& p, const State& state) {
    return state.normal.n > 0 && state.slip_norm > p.stiction_tolerance;
  }
};

}  // namespace stiction::formulations
