#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "support/dense_problem.hpp"

namespace stiction::support {

/// Solves a convex model by a dense Newton's method with a line search by bisection. It is slow and
/// shares only the contact laws with the sparse solver.
/// @param problem after MomentumFactor::calc_derived
/// @return velocities at which the gradient is round-off
Eigen::VectorXd solve_dense(contact::ContactModel model, const contact::ContactProblem& problem,
                            const contact::ModelParameters& parameters);

/// Computes the convex cost l(v) of the whole problem [J].
double calc_dense_cost(contact::ContactModel model, const contact::ContactProblem& problem,
                       const contact::ModelParameters& parameters, const Eigen::VectorXd& v);

/// Computes the Hessian of that cost by the laws of the solver, without calc_dense_hessian.
Eigen::MatrixXd calc_law_hessian(contact::ContactModel model,
                                 const contact::ContactProblem& problem,
                                 const contact::ModelParameters& parameters,
                                 const Eigen::VectorXd& v);

}  // namespace stiction::support
