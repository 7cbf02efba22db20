#pragma once

#include <concepts>

#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"
#include "stiction/math/lanes.hpp"

/// What a convex contact model defines, for four contacts at a time: the impulse of a contact and
/// minus its gradient, which the solver asks for, and the cost that they are derivatives of, by
/// which tests judge them. Everything else (bodies, islands, Newton) is common to all models.
namespace stiction::formulations {

using contact::ModelParameters;
using laws::Curvature;
using math::Lanes;
using math::Lanes3;
using math::LanesSymmetric3;
using math::multiply_add;

/// Four contacts at the start of the step, from which a model makes their fixed parameters.
struct ContactStart : laws::LawStart<Lanes> {
  Lanes3 v_c0{};     // v_c at the start of the step [m/s]
  Lanes delassus{};  // w [1/kg]
  Lanes mu{};        // sliding friction
};

/// The derivatives of a contact's cost along dv at v, for the line search: gamma . dv, dv . G dv.
struct LineDerivatives {
  Lanes slope{};
  Lanes curvature{};
};

/// Row holds the parameters of the contacts during a step; State what calc_impulse leaves for
/// calc_hessian, d2l/dv_c2 [kg], positive semidefinite. All are pure functions of their arguments,
/// lane by lane.
template <class F>
concept ConvexFormulation = requires(const ContactStart& start, const ModelParameters& parameters,
                                     const typename F::Row& row, const Lanes3& v_c,
                                     typename F::State* state, Curvature curvature) {
  { F::make_row(start, parameters) } -> std::same_as<typename F::Row>;
  { F::calc_cost(row, v_c) } -> std::same_as<Lanes>;             // l(v_c) [J]
  { F::calc_impulse(row, v_c, state) } -> std::same_as<Lanes3>;  // -dl/dv_c [N s]
  { F::calc_hessian(row, *state, curvature) } -> std::same_as<LanesSymmetric3>;
  { F::calc_line_derivatives(row, v_c, v_c) } -> std::same_as<LineDerivatives>;
  F::is_slipping(*state);  // a mask
};

/// For laws without a shorter way: from the impulse and the Hessian.
template <class F>
LineDerivatives calc_line_derivatives_by_hessian(const typename F::Row& row, const Lanes3& v,
                                                 const Lanes3& dv) {
  typename F::State state;
  const Lanes3 gamma = F::calc_impulse(row, v, &state);
  const LanesSymmetric3 G = F::calc_hessian(row, state, Curvature::kExact);
  return {dot(gamma, dv), dot(dv, G * dv)};
}

}  // namespace stiction::formulations
