#pragma once

#include <vector>

#include "stiction/formulations/rigid/projected_problem.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/whitened_problem.hpp"

namespace stiction::formulations {

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
