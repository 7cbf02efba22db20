#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"
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

/// A tangential velocity, or a change of it [m/s].
struct Slip {
  double x = 0;
  double y = 0;
};

/// Returns the fraction alpha of a Newton step from the slip u to u + du that is taken. The slope
/// of friction in stiction is valid only for slips up to v_s, and in sliding only while the slip
/// keeps its direction:
///
///   - a step shorter than eps_v = v_s / 100 is taken whole;
///   - a step from rest (below eps_v) to sliding (above v_s) moves by v_s / 2;
///   - a step from sliding to rest stops v_s / 2 before its end;
///   - any other step that starts or ends in stiction (below v_s) is taken whole;
///   - a step between two sliding states that passes the origin within eps_v stops v_s / 2 before
///     the closest point, and one that passes it within v_s stops at the closest point;
///   - any other step turns the slip by at most 60 degrees.
///
/// Source: [castro2020], "transition-aware line search"; [theory:tamsi-limiter].
/// @param v_s stiction tolerance > 0 [m/s]
/// @return alpha in (0, 1]
double calc_slip_limit(const Slip& u, const Slip& du, double v_s);

/// Returns the fraction alpha of a Newton step from v_r to v_r + dv_r that is taken of a spring
/// whose impulse is clamped for velocities outside [low, high]. A step from one bound beyond the
/// other would come back in the next iteration, so it stops half way between them.
/// @return alpha in (0, 1]
double calc_spring_limit(double low, double high, double v_r, double dv_r);

}  // namespace stiction::formulations
