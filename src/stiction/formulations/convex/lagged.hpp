#pragma once

#include "stiction/formulations/convex/lagged_torsion.hpp"
#include "stiction/formulations/convex/laws.hpp"

namespace stiction::formulations {

/// `lagged`: friction is bounded by mu gamma_n0, where gamma_n0 is the normal impulse of the last
/// step, or of the state at the start of the step if the contact is new. The normal impulse itself
/// is that of the end of the step:
///
///     l = mu gamma_n0 |v_t|_s - N(v_n),   gamma = [-mu gamma_n0 t_s; n(v_n)].
///
/// Source: [castro2023] section VI.B; [theory:lagged].
template <class Laws>
struct LaggedWith {
  struct Parameters {
    typename Laws::Normal normal;
    Lanes bound{};           // mu gamma_n0 [N s]
    Lanes slip_tolerance{};  // eps_s [m/s]
    [[no_unique_address]] typename Laws::Friction friction;
  };
  struct State {
    typename Laws::template Norm<2> slip;
    laws::NormalImpulse<Lanes> normal;
  };

  /// The law of contacts with torsional, rolling or unequal tangential friction.
  using Torsion = LaggedTorsionWith<Laws>;

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model);
  static typename LaggedTorsionWith<Laws>::Parameters make_torsion_parameters(
      const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& model);
  /// Makes the contacts stick by springs. It is a template, so that laws that do not stick never
  /// instantiate it.
  template <class L = Laws>
  static void attach(const ElasticStick& stick, Parameters* p) requires L::kMayStick {
    for (int i = 0; i < 2; ++i) p->friction.shift[i] = stick.shift[i];
    p->slip_tolerance = stick.calc_slip_tolerance(p->bound);
  }

  static Lanes calc_cost(const Parameters& p, const Lanes3& v_c) {
    return p.bound * calc_slip(p, v_c).norm() + p.normal.calc_cost(v_c.z);
  }

  static Lanes3 calc_impulse(const Parameters& p, const Lanes3& v_c, State* state) {
    state->normal = p.normal.calc_impulse(v_c.z);
    state->slip = calc_slip(p, v_c);
    return {-p.bound * state->slip.t[0], -p.bound * state->slip.t[1], state->normal.n};
  }

  static LanesSymmetric3 calc_hessian(const Parameters& p, const State& state,
                                      Curvature curvature) {
    return {.xx = p.bound * state.slip.curvature(0, 0, curvature),
            .xy = p.bound * state.slip.curvature(0, 1, curvature),
            .yy = p.bound * state.slip.curvature(1, 1, curvature),
            .xz = Lanes{},
            .yz = Lanes{},
            .zz = state.normal.curvature(curvature)};
  }

  static LineDerivatives calc_line_derivatives(const Parameters& p, const Lanes3& v,
                                               const Lanes3& dv) {
    const laws::NormalImpulse<Lanes> normal = p.normal.calc_impulse(v.z);
    const auto slip = calc_slip(p, v);
    const Lanes dv_t[2] = {dv.x, dv.y};
    return {normal.n * dv.z - p.bound * slip.slope_along(dv_t),
            p.bound * slip.curvature_along(dv_t) - normal.dn_dv * dv.z * dv.z};
  }

  static auto is_slipping(const State& state) { return state.slip.is_slipping(); }

  template <laws::HasDomain Normal = typename Laws::Normal>
  static auto is_feasible(const Parameters& p, const Lanes3& v_c) {
    const Normal& normal = p.normal;
    return v_c.z > normal.calc_min_velocity();
  }
};

using Lagged = LaggedWith<DefaultLaws>;

/// Computes eps_s = max(v_s, sigma w mu gamma_n0) [m/s], [castro2023] eq. (44).
Lanes calc_regularized_slip_tolerance(const ModelParameters& model, const ContactStart& start,
                                      const Lanes& gamma_n0);

}  // namespace stiction::formulations
