#pragma once

#include "stiction/formulations/convex/formulation.hpp"
#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

/// `similar`: the normal impulse is evaluated at z = v_n - mu |v_t|_s. This couples it to slip such
/// that the impulse has a potential:
///
///     l = -N(z),   gamma = [-mu n(z) t_s; n(z)].
///
/// The price is a gap of mu dt |v_t| while the contact slides. The slip tolerance is that of
/// `lagged_regularized`, as in Drake's "similar"; with friction_regularization = 0 it is that of
/// the paper. Source: [castro2023] section VI.C; [theory:similar].
template <class Laws>
struct SimilarWith {
  struct Parameters {
    typename Laws::Normal normal;
    Lanes mu{};
    Lanes slip_tolerance{};  // eps_s [m/s]
    [[no_unique_address]] typename Laws::Friction friction;
  };
  struct State {
    typename Laws::template Norm<2> slip;
    laws::NormalImpulse<Lanes> normal;  // the normal law at z
  };

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model) {
    const typename Laws::Normal normal = Laws::make_normal(start, model);
    return {.normal = normal,
            .mu = start.mu,
            .slip_tolerance = calc_regularized_slip_tolerance(
                model, start, normal.calc_start_impulse(start.v_c0.z)),
            .friction = Laws::make_friction(model)};
  }

  static Lanes calc_cost(const Parameters& p, const Lanes3& v_c) {
    return p.normal.calc_cost(calc_z(p, v_c, calc_slip(p, v_c)));
  }

  static Lanes3 calc_impulse(const Parameters& p, const Lanes3& v_c, State* state) {
    state->slip = calc_slip(p, v_c);
    state->normal = p.normal.calc_impulse(calc_z(p, v_c, state->slip));
    const Lanes friction = -p.mu * state->normal.n;
    return {friction * state->slip.t[0], friction * state->slip.t[1], state->normal.n};
  }

  /// Computes G = -n' u u^T + mu n (I - t_s t_s^T) / h with u = dz/dv_c = [-mu t_s; 1].
  static LanesSymmetric3 calc_hessian(const Parameters& p, const State& state, Curvature) {
    const Lanes u_x = -p.mu * state.slip.t[0], u_y = -p.mu * state.slip.t[1];
    const Lanes slope = -state.normal.dn_dv, bound = p.mu * state.normal.n;
    return {.xx = slope * u_x * u_x + bound * state.slip.curvature(0, 0, Curvature::kExact),
            .xy = slope * u_x * u_y + bound * state.slip.curvature(0, 1, Curvature::kExact),
            .yy = slope * u_y * u_y + bound * state.slip.curvature(1, 1, Curvature::kExact),
            .xz = slope * u_x,
            .yz = slope * u_y,
            .zz = slope};
  }

  static LineDerivatives calc_line_derivatives(const Parameters& p, const Lanes3& v,
                                               const Lanes3& dv) {
    return calc_line_derivatives_by_hessian<SimilarWith>(p, v, dv);
  }

  static auto is_slipping(const State& state) {
    return (state.normal.n > 0) & state.slip.is_slipping();
  }
  static auto is_beyond_tolerance(const State& state) {
    return (state.normal.n > 0) & state.slip.is_beyond_tolerance();
  }

  template <laws::HasDomain Normal = typename Laws::Normal>
  static auto is_feasible(const Parameters& p, const Lanes3& v_c) {
    const Normal& normal = p.normal;
    return calc_z(p, v_c, calc_slip(p, v_c)) > normal.calc_min_velocity();
  }

 private:
  static Lanes calc_z(const Parameters& p, const Lanes3& v_c, const auto& slip) {
    return v_c.z - p.mu * slip.norm();
  }
};

using Similar = SimilarWith<DefaultLaws>;

}  // namespace stiction::formulations
