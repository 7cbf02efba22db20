#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "support/dense_problem.hpp"

namespace stiction::support {

/// The solution of a convex model by a dense Newton's method with bisection along its line: slow,
/// and nothing in common with the sparse solver but the contact laws.
/// @param problem after MomentumFactor::calc_derived
/// @return velocities whose gradient is at round-off
Eigen::VectorXd solve_dense(contact::ContactModel model, const contact::ContactProblem& problem,
                            const contact::ModelParameters& parameters);

/// The convex cost l(v) of the whole problem [J].
double calc_dense_cost(contact::ContactModel model, const contact::ContactProblem& problem,
                       const contact::ModelParameters& parameters, const Eigen::VectorXd& v);

/// The Hessian of that cost by the solver's own laws, which calc_dense_hessian does not use.
Eigen::MatrixXd calc_law_hessian(contact::ContactModel model,
                                 const contact::ContactProblem& problem,
                                 const contact::ModelParameters& parameters,
                                 const Eigen::VectorXd& v);

}  // namespace stiction::support
