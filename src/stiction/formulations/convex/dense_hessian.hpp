#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"

/// The Hessian of a step's cost as a dense matrix, for whoever studies its spectrum. Solvers never
/// form it.
namespace stiction::formulations {

/// H = A + J^T G J of contacts and scalar rows.
/// @param pairs  one per body pair of the problem [kg, kg m, kg m^2]
/// @param v      velocities at which rows are taken [m/s, rad/s], size num_dofs
/// @return H, size (num_dofs x num_dofs), column-major
std::vector<double> calc_dense_hessian(const contact::ContactProblem& problem,
                                       std::span<const contact::PairHessian> pairs,
                                       std::span<const double> v);

/// Ratio of the largest eigenvalue of a symmetric matrix to the smallest [-].
/// @param H positive definite, size (n x n), n >= 1; its lower triangle is read, column-major
double calc_condition_number(std::span<const double> H);

}  // namespace stiction::formulations
