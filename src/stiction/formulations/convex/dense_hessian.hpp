#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"

/// The Hessian of a step's cost as a dense matrix, which only studies of its spectrum form.
namespace stiction::formulations {

/// Computes H = A + J^T G J of all contacts and scalar rows.
/// @param pairs  6 x 6 matrix of each body pair of the problem [kg, kg m, kg m^2], see
///               ContactSolver::calc_pair_hessians
/// @param v      velocities at which the Hessian of scalar rows is taken [m/s, rad/s], size
/// num_dofs
/// @return H, size (num_dofs x num_dofs), column-major
std::vector<double> calc_dense_hessian(const contact::ContactProblem& problem,
                                       std::span<const contact::PairHessian> pairs,
                                       std::span<const double> v);

/// Returns the ratio of the largest to the smallest eigenvalue of a symmetric matrix [-].
/// @param H positive definite, column-major, size (n x n), n >= 1; only its lower triangle is read
double calc_condition_number(std::span<const double> H);

}  // namespace stiction::formulations
