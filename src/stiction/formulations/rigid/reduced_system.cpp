#include "stiction/formulations/rigid/reduced_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations {
namespace {

using contact::SolveStatus;
using numerics::LcpReport;
using numerics::LcpStatus;

/// Returns the largest residual that is within the round-off of N u_hat. If large terms cancel in N
/// u_hat, the LCP contains only their sum, and may require more digits than the terms have.
double calc_accepted_residual(const RigidTerms& terms, const ReducedSystem& system,
                              const LawSolver& solver) {
  // The residual of laws with friction is not one of speeds alone.
  if (terms.law_has_friction() && !solver.is_frictionless) return -1;
  const int n = terms.num_dofs();
  const std::vector<double>& N = system.whitened.rows.N;
  const std::vector<double>& u_hat = system.projected.u_hat;
  double longest = 0;  // squared norm of a row
  for (int i = 0; i < terms.num_unilateral(); ++i) {
    const double* row = N.data() + static_cast<std::size_t>(i) * n;
    longest = std::max(longest, math::dot(n, row, row));
  }
  const double speed = std::sqrt(longest * math::dot(n, u_hat.data(), u_hat.data()));
  if (solver.is_frictionless) return kConstraintTolerance * std::max(1.0, speed);
  const bool has_wide_rank = system.projected.bilateral.rank_tolerance() == kWideRankTolerance;
  return (has_wide_rank ? kAcceptedResidual : kSumRoundOff) * speed;
}

/// Solves a problem as if its contacts had no friction.
LcpReport solve_frictionless(ReducedProblem problem, LawSolver* solver) {
  const std::size_t num_tangents = 2 * problem.mu.size();
  problem.mu = {};
  const LcpReport report = solver->frictionless_law->solve(problem, &solver->solution);
  solver->solution.impulses.tangents.assign(num_tangents, 0.0);
  return report;
}

}  // namespace

LawSolver::LawSolver() : frictionless_law(make_frictionless_law(numerics::LcpSolver::ppm_ratio)) {}

void LawSolver::start(RigidLaw* of_model) {
  law = of_model;
  guess.clear();
  solution.active.clear();
  num_solves = num_pivots = num_lemke = 0;
  is_frictionless = false;
}

LcpReport solve_reduced(const RigidTerms& terms, const FrictionConstants& friction,
                        std::span<const double> y, ReducedSystem* system, LawSolver* solver) {
  STICTION_ASSERT(solver->law != nullptr);
  STICTION_ASSERT(static_cast<int>(y.size()) == terms.num_dofs());
  start_from(y, &system->projected);
  ReducedProblem problem = make_reduced_problem(terms, friction, system->projected);
  problem.guess = solver->guess;
  problem.accepted_residual = calc_accepted_residual(terms, *system, *solver);
  LcpReport report = solver->is_frictionless ? solve_frictionless(problem, solver)
                                             : solver->law->solve(problem, &solver->solution);
  if (!report.is_solved() && report.status != LcpStatus::kNotFinite &&
      report.residual <= problem.accepted_residual)
    report.status = LcpStatus::kSolved;
  solver->guess = solver->solution.active;
  solver->num_pivots += report.pivots;
  solver->num_lemke += report.is_by_lemke;
  ++solver->num_solves;
  return report;
}

SolveStatus to_solve_status(LcpStatus status) {
  switch (status) {
    case LcpStatus::kSolved: return SolveStatus::kConverged;
    case LcpStatus::kInfeasible: return SolveStatus::kInfeasible;
    case LcpStatus::kTooLarge: return SolveStatus::kTooLarge;
    case LcpStatus::kMaxPivots:
    case LcpStatus::kNotSolved: return SolveStatus::kMaxIterations;
    case LcpStatus::kNotSymmetric:
    case LcpStatus::kIndefinite: return SolveStatus::kNotPositiveDefinite;
    case LcpStatus::kNotFinite: return SolveStatus::kNotFinite;
  }
  return SolveStatus::kNotFinite;
}

}  // namespace stiction::formulations
