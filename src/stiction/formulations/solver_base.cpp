#include "stiction/formulations/solver_base.hpp"

namespace stiction::formulations {
namespace {

/// Returns true if every pair and every row is in one of the islands.
bool cover(const contact::Islands& islands, const contact::ContactProblem& problem) {
  std::size_t num_pairs = 0, num_rows = 0;
  for (int i = 0; i < islands.size(); ++i) {
    num_pairs += islands.pairs(i).size();
    num_rows += islands.rows(i).size();
  }
  return num_pairs == problem.pairs.size() && num_rows == problem.rows.size();
}

}  // namespace

bool is_ready_to_solve(const contact::ContactProblem& problem, const contact::Islands& islands,
                       std::span<const double> guess) {
  return contact::find_index_fault(problem).empty() && problem.v_star.size() == problem.v0.size() &&
         problem.delassus.size() == problem.contacts.size() && cover(islands, problem) &&
         (guess.empty() || guess.size() == problem.v0.size());
}

bool are_in_range(const SolverOptions& options) {
  const contact::ModelParameters& p = options.parameters;
  return options.relative_tolerance >= 0 && options.absolute_tolerance >= 0 &&
         options.max_iterations >= 0 && options.coupling_tolerance >= 0 &&
         options.max_rounds >= 0 && p.stiction_tolerance > 0 && p.friction_regularization >= 0 &&
         p.near_rigid_factor >= 0 && p.friction_directions >= 4 && p.friction_directions % 2 == 0 &&
         p.gap_correction >= 0 && p.gap_correction <= 1 && p.max_correction_speed >= 0 &&
         p.max_memory_gb > 0;
}

void begin_solution(const contact::ContactProblem& problem, const contact::Islands& islands,
                    const SolverOptions& options, std::span<const double> guess,
                    contact::ContactSolution* solution) {
  STICTION_ASSERT(is_ready_to_solve(problem, islands, guess));
  STICTION_ASSERT(are_in_range(options));
  static_cast<void>(options);
  static_cast<void>(guess);
  solution->v.assign(problem.v_star.begin(), problem.v_star.end());
  solution->v_low.clear();
  solution->impulses.resize(problem.num_contacts());
  solution->normal_bounds.clear();
  solution->contact_velocities.resize(problem.num_contacts());
  solution->slipping.resize(problem.num_contacts());
  solution->beyond_tolerance.resize(problem.num_contacts());
  solution->row_impulses.resize(problem.num_rows());
  solution->islands.resize(islands.size());
}

}  // namespace stiction::formulations
