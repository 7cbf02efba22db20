#include "stiction/formulations/rigid/rigid_island.hpp"

#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/rigid/constraint_check.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using contact::IslandStatistics;
using contact::SolveStatus;

void RigidIsland::assemble(const contact::ContactProblem& problem, const contact::Islands& islands,
                           int island, std::span<const int> first_dof, contact::ContactModel model,
                           const SolverOptions& options) {
  const contact::ModelParameters& parameters = options.parameters;
  assemble_terms(problem, islands, island, first_dof, contact::traits(model), &terms_);
  calc_gap_terms(terms_, parameters, &iterate_.gaps);
  iterate_.sticking.start(terms_, contact::holds_all_touching(model, parameters));
  start_whitening(islands, island, first_dof, terms_, &system_.whitened);

  // The island moves freely if no solution is found.
  motion_.v = terms_.v_star;
  motion_.contact_velocities.clear();
  motion_.contact_impulses.assign(terms_.num_contacts(), {});
  motion_.row_impulses.assign(terms_.island.num_rows(), 0.0);
}

IslandStatistics RigidIsland::solve(const ActiveKeys& guess, RigidLaw* law) {
  IslandStatistics statistics;
  fallbacks_.start(law);
  active_keys_.first.clear();
  bool is_satisfied = find_motion(guess, &statistics);
  SolveStatus& status = statistics.status;

  // 5. Impacts.
  if (status == SolveStatus::kConverged) {
    const ImpactResult impacts =
        resolve_impacts(terms_, &fallbacks_, &iterate_, &system_, &phases_, &motion_);
    status = impacts.status;
    if (impacts.has_impacts)
      is_satisfied = keeps_constraints(terms_, iterate_, system_, motion_);
    else if (is_satisfied)
      spread_impulses();  // 6.
  }

  // 7. Check and report.
  if (status == SolveStatus::kConverged && !is_satisfied) status = SolveStatus::kInfeasible;
  if (status == SolveStatus::kConverged) {
    const int overdriven =
        find_overdriven_equality(terms_, system_.whitened, motion_, fallbacks_.share());
    if (overdriven >= 0) {
      fallbacks_.note_overdriven(overdriven, terms_);
      status = SolveStatus::kInfeasible;
    }
  }
  if (motion_.contact_velocities.empty()) calc_contact_velocities(terms_, &motion_);
  find_active_keys(terms_, fallbacks_.law_solver().solution.active, &active_keys_.last);
  report(&statistics);
  return statistics;
}

IslandStatistics RigidIsland::refuse(double bytes) {
  IslandStatistics statistics;
  statistics.status = SolveStatus::kTooLarge;
  statistics.required_bytes = bytes;
  report_size(&statistics);
  calc_contact_velocities(terms_, &motion_);
  active_keys_.first.clear();
  active_keys_.last.clear();
  return statistics;
}

/// Repeats steps 1 to 4 until the sticking contacts agree with the motion.
/// @return true if the motion satisfies the constraints
bool RigidIsland::find_motion(const ActiveKeys& guess, IslandStatistics* statistics) {
  LawSolver& solver = fallbacks_.law_solver();
  SolveStatus& status = statistics->status;
  const bool changes_A = terms_.tangents == contact::TangentPolicy::kViscous;
  bool is_satisfied = true;
  bool is_first = true;
  find_active_rows(terms_, guess.first, &solver.guess);

  // 1. Whiten.
  status = whiten(terms_, iterate_, {}, &system_.whitened);
  if (status != SolveStatus::kConverged) return is_satisfied;
  for (;;) {
    base::check_limits();
    // 2. Reduce and solve.
    numerics::LcpReport report =
        fallbacks_.solve(terms_, system_.whitened.y_free, &iterate_, &system_);
    status = to_solve_status(report.status);
    statistics->residual = report.residual;
    statistics->scale = 1;
    if (!report.is_solved()) return is_satisfied;

    // 3. Expand.
    const RigidImpulses& impulses = solver.solution.impulses;
    expand_solution(terms_, iterate_, impulses, &system_, &motion_);
    is_satisfied = keeps_constraints(terms_, iterate_, system_, motion_);
    bool is_valid = is_satisfied && !has_huge_impulses(system_, impulses.unilateral);
    if (is_valid) {
      using Slowdown = ConflictFallbacks::Slowdown;
      const Slowdown slowdown = fallbacks_.slow_corrections(motion_.y, terms_, &iterate_, &system_);
      if (slowdown == Slowdown::kSlowed) continue;
      is_valid =
          slowdown == Slowdown::kNotNeeded &&
          find_overdriven_equality(terms_, system_.whitened, motion_, fallbacks_.share()) < 0;
    }

    // 4. Update, unless a fallback must be solved first.
    report.status = numerics::LcpStatus::kInfeasible;  // of an invalid motion
    if (is_valid || !(fallbacks_.relax(-1, terms_, &iterate_, &system_) ||
                      (!is_satisfied && fallbacks_.drop_friction(report, terms_)))) {
      if (update(guess, is_first)) return is_satisfied;
      is_first = false;
    }
    if (changes_A) status = whiten(terms_, iterate_, {}, &system_.whitened);
    if (status != SolveStatus::kConverged) return is_satisfied;
  }
}

/// Updates the sticking contacts: step 4.
/// @return true if they agree with the motion
bool RigidIsland::update(const ActiveKeys& guess, bool is_first) {
  LawSolver& solver = fallbacks_.law_solver();
  if (is_first) find_active_keys(terms_, solver.solution.active, &active_keys_.first);
  const bool sticks_anew = iterate_.sticking.update(terms_, iterate_.gaps, motion_);
  // The first solve with sticking contacts starts from the active set at the end of the last step.
  if (is_first && sticks_anew) find_active_rows(terms_, guess.last, &solver.guess);
  return !sticks_anew;
}

/// Spreads the tangential impulses, without contacts that slip by short levers if they drive.
void RigidIsland::spread_impulses() {
  if (terms_.tangents != contact::TangentPolicy::kBilateral) return;
  const double speed = find_fastest_contact(motion_);
  for (const double tolerance : {kConstraintTolerance, kDrivenSpeed}) {
    if (!solve_spread(tolerance * speed)) return;
    if (!keeps_constraints(terms_, iterate_, system_, spread_motion_) ||
        iterate_.sticking.misses_pressing(terms_, spread_motion_))
      return;
    if (has_driving_friction(terms_, spread_motion_)) continue;
    motion_ = spread_motion_;  // a copy, so that each keeps its memory
    return;
  }
}

/// Solves again with the spread impulses of the tangents that the basis does not keep. These rows
/// differ from combinations of the others by short levers, so the motion changes by as little.
/// @param slip contacts that slip faster have no share [m/s]
/// @return false if there is nothing to spread, or no solution
bool RigidIsland::solve_spread(double slip) {
  const WhitenedProblem& whitened = system_.whitened;
  if (!spreading_.calc(terms_, whitened, system_.projected, motion_, slip, &spread_tangents_))
    return false;
  const int n = terms_.num_dofs();
  pushed_y_ = whitened.y_free;
  for (std::size_t i = 0; i < spread_tangents_.size(); ++i)
    if (spread_tangents_[i] != 0)
      math::add_multiple(n, spread_tangents_[i], whitened.rows.T.data() + i * n, pushed_y_.data());
  LawSolver& solver = fallbacks_.law_solver();
  if (!solve_reduced(terms_, terms_.friction, pushed_y_, &system_, &solver).is_solved())
    return false;
  solver.solution.impulses.tangents = spread_tangents_;
  expand_solution(terms_, iterate_, solver.solution.impulses, &system_, &spread_motion_);
  return true;
}

void RigidIsland::report_size(IslandStatistics* statistics) const {
  statistics->num_dofs = terms_.num_dofs();
  statistics->num_contacts = terms_.island.num_contacts();
  statistics->num_rows = terms_.island.num_rows();
}

/// Writes sizes, solves, pivots and conflicts, such as missed equalities, to statistics.
void RigidIsland::report(IslandStatistics* statistics) const {
  const LawSolver& solver = fallbacks_.law_solver();
  const ConflictFallbacks::Conflict& conflict = fallbacks_.conflict();
  report_size(statistics);
  statistics->iterations = solver.num_pivots;
  statistics->rounds = solver.num_solves;
  statistics->num_lemke = solver.num_lemke;
  statistics->has_conflict = conflict.is_found;
  statistics->conflict_contact = conflict.contact;
  statistics->conflict_row = conflict.row;
  if (statistics->status != SolveStatus::kConverged || conflict.is_found) return;
  const int missed = find_missed_equality(terms_, iterate_.gaps, motion_);
  if (missed < 0) return;
  statistics->has_conflict = true;
  statistics->conflict_row = terms_.problem_row(terms_.equalities[missed]);
}

void RigidIsland::read_out(contact::ContactSolution* solution) const {
  const DenseIsland& island = terms_.island;
  for (int i = 0; i < island.num_dofs(); ++i) solution->v[island.dofs()[i]] = motion_.v[i];
  for (int i = 0; i < island.num_contacts(); ++i) {
    const int contact = island.contacts()[i];
    const math::Vector3& v = motion_.contact_velocities[i];
    solution->contact_velocities[contact] = {v.x(), v.y(), v.z()};
    solution->impulses[contact] = {};
    solution->slipping[contact] = solution->beyond_tolerance[contact] =
        v.head<2>().norm() > kSlippingSpeed;
  }
  for (int i = 0; i < terms_.num_contacts(); ++i) {
    const std::array<double, 3>& impulse = motion_.contact_impulses[i];
    solution->impulses[terms_.problem_contact(i)] = {impulse[0], impulse[1], impulse[2], 0, 0, 0};
  }
  for (int r = 0; r < island.num_rows(); ++r)
    solution->row_impulses[terms_.problem_row(r)] = motion_.row_impulses[r];
}

}  // namespace stiction::formulations
