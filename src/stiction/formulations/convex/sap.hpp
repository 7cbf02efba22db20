#pragma once

#include <algorithm>
#include <numbers>

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

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model) {
    const double dt = start.time_step;
    const double resolved = model.near_rigid_factor / (2 * std::numbers::pi);
    // Stiction needs R_t > 0, so sigma has a lower limit.
    constexpr double kMinRegularization = 1e-9;
    const double sigma = std::max(model.friction_regularization, kMinRegularization);
    const Lanes damped_step = dt + start.law.relaxation_time;
    // A force that does not depend on penetration is treated as that of a very soft spring.
    constexpr double kMinStiffness = 1e-9;  // [N/m]
    const Lanes stiffness = math::max(start.law.stiffness, math::broadcast(kMinStiffness));
    Parameters p;
    p.mu = start.mu;
    p.R_n = math::max(resolved * resolved * start.delassus, 1 / (dt * stiffness * damped_step));
    p.R_t = sigma * start.delassus;
    p.v_hat = start.fn0 / (stiffness * damped_step);
    p.sliding_mass = 1 / (p.R_n + p.mu * p.mu * p.R_t);
    return p;
  }
  static Lanes calc_cost(const Parameters& p, const Lanes3& v_c) {
    State state;
    const Lanes3 gamma = calc_impulse(p, v_c, &state);
    return 0.5 * (p.R_t * (gamma.x * gamma.x + gamma.y * gamma.y) + p.R_n * gamma.z * gamma.z);
  }
  static Lanes3 calc_impulse(const Parameters& p, const Lanes3& v_c, State* state) {
    const Lanes zero{}, one = math::broadcast(1);
    const Lanes slip = math::sqrt(v_c.x * v_c.x + v_c.y * v_c.y);
    const Lanes y_n = (p.v_hat - v_c.z) / p.R_n, y_r = slip / p.R_t;
    // Without friction and slip, the strict comparison leaves y with y_n < 0 without an impulse.
    const Lanes mu_hat = p.mu * p.R_t / p.R_n;
    const Lanes touches = y_n > -mu_hat * y_r ? one : zero;
    state->sticks = y_r < p.mu * y_n ? touches : zero;
    // A sliding contact with friction has |v_t| > 0, because y_r = 0 is stiction or separation.
    state->slides = touches - state->sticks;
    state->inv_slip = slip > 0 ? 1 / slip : zero;
    state->t_x = v_c.x * state->inv_slip;
    state->t_y = v_c.y * state->inv_slip;
    state->gamma_n = p.sliding_mass * (p.v_hat - v_c.z + p.mu * slip);
    const Lanes stiction = -state->sticks / p.R_t;
    const Lanes friction = -state->slides * p.mu * state->gamma_n;
    return {stiction * v_c.x + friction * state->t_x, stiction * v_c.y + friction * state->t_y,
            state->sticks * y_n + state->slides * state->gamma_n};
  }
  static LanesSymmetric3 calc_hessian(const Parameters& p, const State& state, Curvature) {
    const Lanes u_x = -p.mu * state.t_x, u_y = -p.mu * state.t_y;
    const Lanes mass = state.slides * p.sliding_mass;
    const Lanes across = state.slides * p.mu * state.gamma_n * state.inv_slip;
    const Lanes stiction = state.sticks / p.R_t;
    return {.xx = stiction + mass * u_x * u_x + across * state.t_y * state.t_y,
            .xy = mass * u_x * u_y - across * state.t_x * state.t_y,
            .yy = stiction + mass * u_y * u_y + across * state.t_x * state.t_x,
            .xz = mass * u_x,
            .yz = mass * u_y,
            .zz = state.sticks / p.R_n + mass};
  }
  static LineDerivatives calc_line_derivatives(const Parameters& p, const Lanes3& v,
                                               const Lanes3& dv) {
    return calc_line_derivatives_by_hessian<Sap>(p, v, dv);
  }
  static auto is_slipping(const State& state) { return state.slides > 0; }
  static auto is_beyond_tolerance(const State& state) { return is_slipping(state); }
};

}  // namespace stiction::formulations
