#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/formulations/rigid/bilateral_constraints.hpp"
#include "stiction/formulations/rigid/contact_levers.hpp"
#include "stiction/formulations/rigid/reduced_problem.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/sticking_set.hpp"
#include "stiction/formulations/rigid/whitened_problem.hpp"

namespace stiction::formulations {

/// A whitened problem from which the bilateral constraints are eliminated: rows are projected on
/// their null space, and constants hold what the constraints fix. Source: [theory:projection].
struct ProjectedProblem {
  BilateralConstraints bilateral;  // equalities, then two tangents of each contact in `sticking`
  /// Contacts that stick by bilateral constraints: first those that touch, then those that close
  /// within the step, each ascending.
  std::vector<int> sticking;
  /// How far the contact points of all contacts are known, see [theory:short-levers] [m].
  std::vector<double> reach;
  std::vector<double> N, b_n;  // unilateral rows
  std::vector<double> T, b_t;  // tangents; empty if the law has no friction
  std::vector<double> F, b_f;  // dry joints that the law solves for
  std::vector<double> u_hat;   // where the law starts, on the constraints [sqrt(J)]

  // Of the last projection.
  std::int64_t version = -1;  // of the whitened problem
  std::vector<int> last_sticking;
  std::vector<double> b_sticking;  // constants of the tangents of `sticking`
};

/// Eliminates the bilateral constraints. It does not set u_hat, see start_from. If only constants
/// have changed since the last call with this result, rows are not projected again.
/// @param rank_tolerance of BilateralConstraints::eliminate
/// @return a unilateral row that the constraints force to penetrate; -1 if there is no such row
[[nodiscard]] int project(const RigidTerms& terms, const WhitenedProblem& whitened,
                          const StickingSet& sticking, double rank_tolerance,
                          ProjectedProblem* out);

/// Sets u_hat to the point of the bilateral constraints that is nearest to y.
void start_from(std::span<const double> y, ProjectedProblem* problem);

/// Returns the problem for the model's law, as views of the arguments. Its guess is empty.
ReducedProblem make_reduced_problem(const RigidTerms& terms, const FrictionConstants& friction,
                                    const ProjectedProblem& projected);

}  // namespace stiction::formulations
