#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/formulations/rigid/conflict_fallbacks.hpp"
#include "stiction/formulations/rigid/impacts.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

/// One island under a rigid model,
///
///     A (v - v*) = N^T f_N + X^T f_X + ...,   X v + b_X = 0,   0 <= f_N _|_ N v + b_n >= 0.
///
/// Source: [theory:rigid-problem]. A solve has these steps:
///
///  1. Whiten: in y = L^T v with A = L L^T, implicit forces included, the step is a projection.
///  2. Reduce and solve: bilateral constraints X are eliminated, and the model's law solves the
///     rest. If constraints conflict, ConflictFallbacks relaxes some of them.
///  3. Expand the solution to velocities and impulses of all rows. If the motion violates a
///     constraint or acts through a lever, take the next fallback and go back to 2.
///  4. Update the set of sticking contacts. Unless it agrees with the motion, go back to 2, or to 1
///     if A has changed.
///  5. Resolve impacts with restitution, which go through 1 to 3 again.
///  6. Spread the impulses of sticking contacts, unless there were impacts.
///  7. Check that the motion keeps the constraints, and report.
class RigidIsland {
 public:
  /// Starts a step.
  /// @param problem   after MomentumFactor::calc_derived; must outlive the solve
  /// @param first_dof of every block of the problem within its island
  /// @param model     with the trait is_rigid
  void assemble(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
                std::span<const int> first_dof, contact::ContactModel model,
                const SolverOptions& options);

  /// Solves the step.
  /// @param guess active keys of the last step, each ascending
  contact::IslandStatistics solve(const ActiveKeys& guess, RigidLaw* law);

  /// Leaves the step unsolved, because it needs more memory than there may be. The island moves as
  /// if there were no contacts and no rows.
  /// @param bytes the memory that it needs
  contact::IslandStatistics refuse(double bytes);

  /// Copies the result to the island's place in a solution.
  void read_out(contact::ContactSolution* solution) const;

  /// The active keys of this step.
  const ActiveKeys& active_keys() const { return active_keys_; }

 private:
  bool find_motion(const ActiveKeys& guess, contact::IslandStatistics* statistics);
  bool update(const ActiveKeys& guess, bool is_first);
  void spread_impulses();
  bool solve_spread(double slip);
  void report_size(contact::IslandStatistics* statistics) const;
  void report(contact::IslandStatistics* statistics) const;

  RigidTerms terms_;
  RigidIterate iterate_;
  ReducedSystem system_;
  ConflictFallbacks fallbacks_;
  ImpactPhases phases_;
  RigidMotion motion_;
  ImpulseSpreading spreading_;
  std::vector<double> spread_tangents_, pushed_y_;
  RigidMotion spread_motion_;
  ActiveKeys active_keys_;
};

}  // namespace stiction::formulations
