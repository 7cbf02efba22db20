#pragma once

#include <concepts>

#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/chosen_law.hpp"
#include "stiction/laws/friction.hpp"
#include "stiction/laws/normal_law.hpp"
#include "stiction/math/lanes.hpp"

/// The functions that a convex contact model defines, for four contacts at a time: the impulse of a
/// contact, minus the gradient of the impulse, and the cost. The solver calls the first two. The
/// cost, of which they are derivatives, is for tests. Everything else (bodies, islands, Newton's
/// method) is common to all models.
namespace stiction::formulations {

using contact::ModelParameters;
using laws::Curvature;
using math::Lanes;
using math::Lanes3;
using math::LanesSymmetric3;
using math::multiply_add;

/// Four contacts at the start of the step. A model makes the parameters of their laws from them.
struct ContactStart : laws::LawStart<Lanes> {
  Lanes3 v_c0{};                               // v_c at the start of the step [m/s]
  Lanes delassus{};                            // w [1/kg]
  Lanes mu{};                                  // sliding friction coefficient [-]
  Lanes lagged_impulse = math::broadcast(-1);  // see ContactProblem; -1: none [N s]
};

/// Returns gamma_n0, the normal impulse that bounds lagged friction [N s].
template <class Normal>
Lanes find_lagged_impulse(const ContactStart& start, const Normal& normal) {
  const Lanes of_state = normal.calc_start_impulse(start.v_c0.z);
  return start.lagged_impulse >= 0 ? start.lagged_impulse : of_state;
}

/// The derivatives of a contact's cost along dv. The slope has the sign of the impulse.
struct LineDerivatives {
  Lanes slope{};      // gamma . dv, minus the first derivative of the cost [J]
  Lanes curvature{};  // dv . G dv, the second derivative of the cost [J]
};

/// A convex contact model. Parameters are the data of the contacts' laws, fixed during a step.
/// State is the part of the result of calc_impulse from which calc_hessian starts. The Hessian
/// d2l/dv_c2 [kg] is positive semidefinite. All functions are pure, and treat each lane alone.
template <class F>
concept ConvexFormulation = requires(const ContactStart& start, const ModelParameters& model,
                                     const typename F::Parameters& p, const Lanes3& v_c,
                                     typename F::State* state, Curvature curvature) {
  { F::make_parameters(start, model) } -> std::same_as<typename F::Parameters>;
  { F::calc_cost(p, v_c) } -> std::same_as<Lanes>;             // l(v_c) [J]
  { F::calc_impulse(p, v_c, state) } -> std::same_as<Lanes3>;  // -dl/dv_c [N s]
  { F::calc_hessian(p, *state, curvature) } -> std::same_as<LanesSymmetric3>;
  { F::calc_line_derivatives(p, v_c, v_c) } -> std::same_as<LineDerivatives>;
  F::is_slipping(*state);          // a mask: friction is at its bound
  F::is_beyond_tolerance(*state);  // a mask: the slip is above the tolerance of the law
};

/// Computes the derivatives along a line by the Hessian, for laws without a shorter formula.
template <class F>
LineDerivatives calc_line_derivatives_by_hessian(const typename F::Parameters& p, const Lanes3& v,
                                                 const Lanes3& dv) {
  typename F::State state;
  const Lanes3 gamma = F::calc_impulse(p, v, &state);
  const LanesSymmetric3 G = F::calc_hessian(p, state, Curvature::kExact);
  return {dot(gamma, dv), dot(dv, G * dv)};
}

// The normal law and the friction regularization of a formulation, as a template argument.
// DefaultLaws is known at compile time and needs no branch. ChosenLaws is any other pair, chosen
// at run time.

/// Hunt-Crossley and the soft norm.
struct DefaultLaws {
  static constexpr bool kMayStick = false;
  using Normal = laws::HuntCrossley<Lanes>;
  template <int kSize>
  using Norm = laws::SoftNorm<kSize, Lanes>;
  struct Friction {
    template <int kSize>
    Norm<kSize> calc_norm(const Lanes* slip, const Lanes& tolerance) const {
      return {slip, tolerance};
    }
  };

  static Normal make_normal(const ContactStart& start, const ModelParameters& model) {
    return Normal::make(start, model);
  }
  static Friction make_friction(const ModelParameters&) { return {}; }
};

/// The laws that ModelParameters names.
struct ChosenLaws {
  static constexpr bool kMayStick = true;  // by the springs of `elastic`
  using Normal = laws::ChosenLaw<Lanes>;
  template <int kSize>
  using Norm = laws::SlipNorm<kSize, Lanes>;
  struct Friction {
    laws::ChosenSlipFunction function = contact::FrictionRegularizationKind::soft;
    Lanes shift[5]{};  // added to the slip under `elastic`, see ElasticStick
    template <int kSize>
    Norm<kSize> calc_norm(const Lanes* slip, const Lanes& tolerance) const {
      if (function.kind != contact::FrictionRegularizationKind::elastic)
        return {slip, tolerance, function};
      Lanes shifted[kSize];
      for (int i = 0; i < kSize; ++i) shifted[i] = slip[i] + shift[i];
      return {shifted, tolerance, function};
    }
  };

  static Normal make_normal(const ContactStart& start, const ModelParameters& model) {
    return Normal::make(start, model);
  }
  static Friction make_friction(const ModelParameters& model) {
    return {.function = {model.friction_law, model.custom_friction.get()}};
  }
};

/// True if the parameters name the default laws.
inline bool has_default_laws(const ModelParameters& model) {
  return model.normal_law == contact::NormalLawKind::hunt_crossley &&
         model.friction_law == contact::FrictionRegularizationKind::soft;
}

/// A formulation with a law that may have an impulse for some velocities only, as barriers have.
/// is_feasible tells where the impulse is that of the law itself. The normal law is the member
/// `normal` of Parameters, and can be extended linearly to all velocities.
template <class F>
concept HasDomain = requires(const typename F::Parameters& p, const Lanes3& v_c) {
  F::is_feasible(p, v_c);  // a mask
  requires laws::HasDomain<decltype(p.normal)>;
};

/// Returns the regularized norm of the tangential velocity.
/// @param p parameters with the members `friction` and `slip_tolerance`
auto calc_slip(const auto& p, const Lanes3& v_c) {
  const Lanes v_t[2] = {v_c.x, v_c.y};
  return p.friction.template calc_norm<2>(v_t, p.slip_tolerance);
}

}  // namespace stiction::formulations
