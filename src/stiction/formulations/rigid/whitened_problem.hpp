#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/whitening.hpp"

namespace stiction::formulations {

/// Rows of constraints in y = L^T v, row-major with num_dofs numbers each, and their constants:
/// the velocity of a row is N y + b_n [m/s, rad/s].
struct WhitenedRows {
  std::vector<double> N, b_n;  // unilateral: normals of contacts, then limits
  std::vector<double> T, b_t;  // tangents of contacts, two each; T is empty where nothing reads it
  std::vector<double> E, b_e;  // equalities; empty where they are springs
  std::vector<double> F, b_f;  // dry joints that the law solves for; b_f = 0
};

/// The problem of an island in y = L^T v with A = L L^T, implicit forces included:
///
///     min 1/2 |y - y_free|^2   subject to the rows.
///
/// Source: [theory:projection].
struct WhitenedProblem {
  Whitening whitening;
  std::vector<double> implicit;  // L^-1 J^T gamma of implicit forces at v*
  std::vector<double> y_free;    // y of the motion without the rows [sqrt(J)]
  WhitenedRows rows;
};

/// Starts the factor's envelope for all implicit forces that may act on A during a solve.
/// @param first_dof of every block of the problem within its island
void start_whitening(const contact::Islands& islands, int island, std::span<const int> first_dof,
                     const RigidTerms& terms, WhitenedProblem* out);

/// Factors A with its implicit forces - springs, linearized dry friction, viscous friction of
/// sticking contacts - and whitens all rows. Comes after `start_whitening`.
/// @param equality_stiffness weights [kg, kg m^2] that make springs of the equalities; empty: they
///                           are constraints. The dofs of each must have been coupled before.
/// @return kConverged; kNotPositiveDefinite or kNotFinite
[[nodiscard]] contact::SolveStatus whiten(const RigidTerms& terms, const RigidIterate& iterate,
                                          std::span<const double> equality_stiffness,
                                          WhitenedProblem* out);

/// Writes the constants of all rows, of equalities only if they are constraints.
void set_constants(const RigidTerms& terms, const GapTerms& gaps, WhitenedRows* rows);

}  // namespace stiction::formulations
