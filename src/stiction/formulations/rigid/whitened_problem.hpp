#pragma once

#include <cstdint>
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
  std::vector<double> T, b_t;  // tangents of contacts, two each; T is empty if it is not needed
  std::vector<double> E, b_e;  // equalities; empty if they are springs
  std::vector<int> vector_e;   // of each equality: the first one of the vector it is a component
                               // of; stays the same during a step
  std::vector<double> F, b_f;  // dry joints that the law solves for
  /// Mobilities of the contacts and limits, and of the equalities, by the inertia of the bodies
  /// alone, of which A's may be a small part where dampers hold the bodies. They are lower bounds
  /// or of that order; empty: 0. They stay the same during a step.
  std::vector<double> inertial_n, inertial_e;
  /// The prescribed part of b_e, without corrections, fixed during a step; empty: 0.
  std::vector<double> bias_e;
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
  ContactLevers levers;  // empty if the law has the friction of contacts
  /// Increases by 1 whenever the rows are whitened, so that users know whether they have changed.
  std::int64_t version = 0;
};

/// Starts the envelope of the factor, with room for all implicit forces that may act in a solve,
/// estimates the mobilities by inertia, and finds the vectors of equalities.
/// @param first_dof of every block of the problem within its island
void start_whitening(const contact::Islands& islands, int island, std::span<const int> first_dof,
                     const RigidTerms& terms, WhitenedProblem* out);

/// Factors A with its implicit forces, and whitens all rows. The implicit forces are springs,
/// and viscous friction of sticking contacts. Requires start_whitening.
/// @param equality_stiffness stiffnesses of springs that replace the equalities [kg, kg m^2];
/// empty:
///                           equalities are constraints. The dofs of each equality must be coupled.
/// @return kConverged; kNotPositiveDefinite or kNotFinite
[[nodiscard]] contact::SolveStatus whiten(const RigidTerms& terms, const RigidIterate& iterate,
                                          std::span<const double> equality_stiffness,
                                          WhitenedProblem* out);

/// Writes the constants of all rows. Equalities that are springs have none.
void set_constants(const RigidTerms& terms, const GapTerms& gaps, WhitenedRows* rows);

}  // namespace stiction::formulations
