#pragma once

#include "stiction/formulations/convex/formulation.hpp"

namespace stiction::formulations {

/// `dummy_model`: a normal law without friction, l = -N(v_n).
template <class Laws>
struct DummyModelWith {
  struct Parameters {
    typename Laws::Normal normal;
  };
  struct State {
    laws::NormalImpulse<Lanes> normal;
  };

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model) {
    return {.normal = Laws::make_normal(start, model)};
  }

  static Lanes calc_cost(const Parameters& p, const Lanes3& v_c) {
    return p.normal.calc_cost(v_c.z);
  }

  static Lanes3 calc_impulse(const Parameters& p, const Lanes3& v_c, State* state) {
    state->normal = p.normal.calc_impulse(v_c.z);
    return {Lanes{}, Lanes{}, state->normal.n};
  }

  static LanesSymmetric3 calc_hessian(const Parameters&, const State& state, Curvature curvature) {
    LanesSymmetric3 G{};
    G.zz = state.normal.curvature(curvature);
    return G;
  }

  static LineDerivatives calc_line_derivatives(const Parameters& p, const Lanes3& v,
                                               const Lanes3& dv) {
    return calc_line_derivatives_by_hessian<DummyModelWith>(p, v, dv);
  }

  static auto is_slipping(const State& state) { return state.normal.n < 0; }  // never

  template <laws::HasDomain Normal = typename Laws::Normal>
  static auto is_feasible(const Parameters& p, const Lanes3& v_c) {
    const Normal& normal = p.normal;
    return v_c.z > normal.calc_min_velocity();
  }
};

}  // namespace stiction::formulations
