#pragma once

#include <span>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/solver_options.hpp"

/// The requirements of every ContactSolver on its arguments, for STICTION_ASSERT. Release builds do
/// not check them.
namespace stiction::formulations {

/// Returns true if sizes and indices of the problem are in range, MomentumFactor::calc_derived has
/// run on it, `islands` were found for it, and the guess is empty or has one velocity per dof.
/// Numbers may be anything: solvers report numbers that are not finite by a status.
bool is_ready_to_solve(const contact::ContactProblem& problem, const contact::Islands& islands,
                       std::span<const double> guess);

/// Returns true if all options are in the ranges of SolverOptions and ModelParameters.
bool are_in_range(const SolverOptions& options);

}  // namespace stiction::formulations
