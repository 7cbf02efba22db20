#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/rigid/projected_problem.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/whitened_problem.hpp"

namespace stiction::formulations {

/// The two forms in which an island becomes the problem of a law: whitened, then projected.
struct ReducedSystem {
  WhitenedProblem whitened;
  ProjectedProblem projected;
};

/// A law with the state of its solves for one island, each from the active set before it.
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

/// Spreads the tangential impulses of sticking contacts over all their rows, except those of
/// contacts that slip by short levers, [theory:short-levers], where the impulses could do work.
/// BilateralConstraints gives impulses to a largest independent set of rows only, which depends on
/// the order of the contacts. Of all tangential impulses f with the same effect, those of least
/// norm are
///
///     f = C (C^T C)^-1 g,   C = T Q^T,
///
/// where Q are the rows of the basis that tangents extend it by, and g the impulses along them.
/// Source: [theory:least-norm].
class ImpulseSpreading {
 public:
  /// Computes the impulses of the rows that the basis does not keep.
  /// @param problem  after BilateralConstraints::satisfy
  /// @param motion   of the problem
  /// @param slip     contacts that slip faster have no share [m/s]
  /// @param tangents out: two per contact of RigidTerms, 0 at rows that the basis keeps [N s]
  /// @return false if it keeps all rows, so that there is nothing to spread
  bool calc(const RigidTerms& terms, const WhitenedProblem& whitened,
            const ProjectedProblem& problem, const RigidMotion& motion, double slip,
            std::vector<double>* tangents);

 private:
  void choose_rows(const RigidTerms& terms, const ProjectedProblem& problem,
                   const RigidMotion& motion, double slip);
  bool solve_gram(int rank, const double* g);

  std::vector<int> rows_;         // tangents of RigidTerms that share the impulses
  std::vector<double> C_;         // row-major, rows_.size() x number of tangents kept
  std::vector<double> gram_, x_;  // C^T C and its factors; (C^T C)^-1 g
};

}  // namespace stiction::formulations
