#pragma once

#include "stiction/formulations/convex/formulation.hpp"

namespace stiction::formulations {

/// `sap`: a linear spring and damper with convex friction. The impulse is the projection of
/// y = R^-1 (v_hat - v_c) onto the friction cone in the norm of R = diag(R_t, R_t, R_n):
///
///     R_n = max(beta^2 w / (4 pi^2), 1 / (dt k (dt + tau_d))),  R_t = sigma w,
///     v_hat = x0 / (dt + tau_d),   l = 1/2 (R_t |gamma_t|^2 + R_n gamma_n^2).
///
/// Source: [castro2022] section V; [theory:sap].
struct Sap {
  struct Parameters {
    Lanes mu{};
    Lanes R_t{};           // [1/kg]
    Lanes R_n{};           // [1/kg]
    Lanes v_hat{};         // [m/s]
    Lanes sliding_mass{};  // a = 1 / (R_n (1 + mu^2 R_t / R_n)) [kg]
  };
  struct State {
    Lanes sticks{}, slides{};  // 1 in the region of each lane; both are 0 without an impulse
    Lanes t_x{}, t_y{};        // slip direction; 0 without slip
    Lanes inv_slip{};          // 1 / |v_t| [s/m]; 0 without slip
    Lanes gamma_n{};           // normal impulse in sliding [N s]
  };

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model);
  static Lanes calc_cost(const Parameters& p, const Lanes3& v_c) {
    State state;
    const Lanes3 gamma = calc_impulse(p, v_c, &state);
    return 0.5 * (p.R_t * (gamma.x * gamma.x + gamma.y * gamma.y) + p.R_n * gamma.z * gamma.z);
  }
  static Lanes3 calc_impulse(const Parameters& p, const Lanes3& v_c, State* state);
  static LanesSymmetric3 calc_hessian(const Parameters& p, const State& state, Curvature);
  static LineDerivatives calc_line_derivatives(const Parameters& p, const Lanes3& v,
                                               const Lanes3& dv) {
    return calc_line_derivatives_by_hessian<Sap>(p, v, dv);
  }
  static auto is_slipping(const State& state) { return state.slides > 0; }
};

}  // namespace stiction::formulations
