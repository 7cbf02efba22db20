#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/rigid/projected_problem.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/formulations/rigid/whitened_problem.hpp"

namespace stiction::formulations {

/// The two forms in which an island becomes the problem of a law: whitened, then projected.
struct ReducedSystem {
  WhitenedProblem whitened;
  ProjectedProblem projected;
};

/// A law with the state of its solves for one island. Each solve starts from the active set of the
/// solve before it.
struct LawSolver {
  RigidLaw* law = nullptr;
  std::vector<int> guess;    // unilateral rows that may be active in the next solve
  ReducedSolution solution;  // of the last solve; the best point found if it failed
  int num_solves = 0;
  int num_pivots = 0;            // over all solves
  int num_lemke = 0;             // solves that the LCP solver ppm_ratio left to Lemke's method
  bool is_frictionless = false;  // frictionless_law takes the place of the law
  std::unique_ptr<RigidLaw> frictionless_law;

  LawSolver();

  /// Starts a step with a law and without a guess.
  void start(RigidLaw* of_model);
};

/// Solves the projected problem from y with the model's law.
/// @param friction terms.friction, in which some constants may be set to 0
/// @return kSolved also if the residual is round-off
numerics::LcpReport solve_reduced(const RigidTerms& terms, const FrictionConstants& friction,
                                  std::span<const double> y, ReducedSystem* system,
                                  LawSolver* solver);

/// Returns the status of an island whose last LCP ended with this status.
contact::SolveStatus to_solve_status(numerics::LcpStatus status);

/// Computes the velocities that the law's impulses lead to, and the impulses of all other rows at
/// these velocities: bilateral constraints, springs and viscous friction.
/// @param impulses along the whitened rows of `system`
void expand_solution(const RigidTerms& terms, const RigidIterate& iterate,
                     const RigidImpulses& impulses, ReducedSystem* system, RigidMotion* out);

/// Computes the velocities of all contacts of the island at out->v.
void calc_contact_velocities(const RigidTerms& terms, RigidMotion* out);

}  // namespace stiction::formulations
