#pragma once

#include <concepts>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/curvature.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/math/spatial.hpp"

/// What a convex contact model defines, and the solver asks for: the impulse of one contact and
/// minus its gradient. Everything else (bodies, islands, Newton) is common to all models.
namespace stiction::formulations {

using contact::Curvature;
using contact::ModelParameters;
using math::Matrix3;
using math::Vector3;

/// A contact at the start of the step, from which a model makes its fixed parameters.
struct ContactStart {
  const contact::Contact& contact;
  Vector3 v_c0;      // v_c at the start of the step [m/s]
  double delassus;   // w [1/kg]
  double time_step;  // [s]
};

/// Row holds the parameters of one contact during a step; State what calc_impulse leaves for
/// calc_hessian, d2l/dv_c2 [kg], positive semidefinite. All are pure functions of their arguments.
template <class F>
concept ConvexFormulation = requires(const ContactStart& start, const ModelParameters& parameters,
                                     const typename F::Row& row, const Vector3& v_c,
                                     typename F::State* state) {
  { F::make_row(start, parameters) } -> std::same_as<typename F::Row>;
  { F::calc_cost(row, v_c) } -> std::same_as<double>;             // l(v_c) [J]
  { F::calc_impulse(row, v_c, state) } -> std::same_as<Vector3>;  // -dl/dv_c [N s]
  { F::calc_hessian(row, *state) } -> std::same_as<Matrix3>;
  { F::is_slipping(*state) } -> std::same_as<bool>;
};

/// gamma . dv and dv . G dv at v: what a line search needs of a contact.
struct LineDerivatives {
  double slope = 0;
  double curvature = 0;
};

/// By the law's own shorter way if it has one, else from its impulse and Hessian.
template <class Law, class Vector>
LineDerivatives calc_line_derivatives(const typename Law::Row& row, const Vector& v,
                                      const Vector& dv) {
  if constexpr (requires { Law::calc_line_derivatives(row, v, dv); }) {
    return Law::calc_line_derivatives(row, v, dv);
  } else {
    typename Law::State state;
    const Vector gamma = Law::calc_impulse(row, v, &state);
    return {gamma.dot(dv), dv.dot(Law::calc_hessian(row, state) * dv)};
  }
}

}  // namespace stiction::formulations
