#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/base/words.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/dense_island.hpp"

namespace stiction::formulations {

/// Returns true if the law of a rigid model solves for the friction of contacts.
inline bool law_has_friction(contact::TangentPolicy tangents) {
  return tangents == contact::TangentPolicy::kFrictionPolygon ||
         tangents == contact::TangentPolicy::kLeastEnergy ||
         tangents == contact::TangentPolicy::kFrictionCone;
}

/// Constants of the friction that a model's law solves for. mu, nu and slip0 have one entry per
/// contact of RigidTerms; they are empty under models whose law has no friction of contacts.
struct FrictionConstants {
  std::vector<double> mu;          // friction coefficients, at most kMaxFriction [-]
  std::vector<double> nu;          // dt times viscous friction [N s^2/m]
  std::vector<double> slip0;       // slip speeds when the step starts [m/s]
  std::vector<double> dry_bounds;  // of the impulses of dry joints, >= 0 [N s, N m s]
  /// Creep of a dry joint that sticks, per impulse, see contact::calc_dry_compliance. It is 0 under
  /// models with friction polygons [1/kg, 1/(kg m^2)].
  std::vector<double> dry_compliance;
};

/// One island under a rigid model, with its contacts and rows sorted by their role in the model.
/// The terms are fixed during a solve. Only contacts that take part are listed. Their normals are
/// the first unilateral rows, limits are the others. Arrays keep their memory from step to step.
struct RigidTerms {
  const contact::ContactProblem* problem = nullptr;
  contact::TangentPolicy tangents = contact::TangentPolicy::kNone;
  contact::GapPolicy gaps = contact::GapPolicy::kSpeculative;
  DenseIsland island;
  std::vector<double> v0, v_star;  // at the island's dofs
  std::vector<int> contacts;       // indices among the contacts of the island
  std::vector<int> pairs;          // of each of `contacts`: its pair in the problem
  // Rows of the island, sorted by their role.
  std::vector<int> limits, equalities;
  std::vector<int> springs;     // implicit forces of the caller
  std::vector<int> dry_joints;  // dry friction, which the law solves for
  FrictionConstants friction;

  int num_dofs() const { return island.num_dofs(); }
  int num_contacts() const { return static_cast<int>(contacts.size()); }
  int num_limits() const { return static_cast<int>(limits.size()); }
  int num_unilateral() const { return num_contacts() + num_limits(); }
  int num_equalities() const { return static_cast<int>(equalities.size()); }

  /// Returns true if the model's law solves for the friction of contacts.
  bool law_has_friction() const { return formulations::law_has_friction(tangents); }

  /// Returns the index of contact i in the problem.
  int problem_contact(int i) const {
    STICTION_ASSERT(0 <= i && i < num_contacts());
    return island.contacts()[contacts[i]];
  }
  /// Returns the index of row r of the island in the problem.
  int problem_row(int r) const {
    STICTION_ASSERT(0 <= r && r < island.num_rows());
    return island.rows()[r];
  }
  const contact::Contact& contact(int i) const { return problem->contacts[problem_contact(i)]; }
  const contact::Row& row(int r) const { return problem->rows[problem_row(r)]; }
  /// Returns the Jacobian of contact i, with rows t1, t2, n.
  DenseJacobian<3> contact_jacobian(int i) const {
    STICTION_ASSERT(0 <= i && i < num_contacts());
    return island.contact_jacobian(contacts[i]);
  }
  /// Returns the Jacobian of row r of the island.
  DenseJacobian<1> row_jacobian(int r) const {
    STICTION_ASSERT(0 <= r && r < island.num_rows());
    return island.row_jacobian(r);
  }
  /// Computes the velocity of row r of the island at velocities v of its dofs [m/s, rad/s].
  double calc_row_velocity(int r, std::span<const double> v) const {
    return row_jacobian(r).multiply(v)[0] + row(r).bias;
  }
};

/// Sorts an island of a problem into terms.
/// @param problem   after MomentumFactor::calc_derived; must outlive the terms
/// @param first_dof of every block of the problem within its island, see place_blocks
/// @param traits    of a rigid model
void assemble_terms(const contact::ContactProblem& problem, const contact::Islands& islands,
                    int island, std::span<const int> first_dof,
                    const contact::ContactModelTraits& traits, RigidTerms* out);

/// Keys of the contacts and limits in the active sets of a step, for the warm start of the next
/// step. The key of a contact is its id. The keys of limits differ from all ids.
struct ActiveKeys {
  std::vector<std::uint64_t> first;  // of the first solve, where few contacts stick yet
  std::vector<std::uint64_t> last;   // of the last solve
};

/// Writes keys, for ContactSolver::write_memory.
void write_keys(const ActiveKeys& keys, base::WordWriter* words);
/// @throws Error if the words are not those of write_keys
void read_keys(base::WordReader* words, ActiveKeys* keys);

/// Finds the keys of unilateral rows. Contacts without an id have no key.
void find_active_keys(const RigidTerms& terms, std::span<const int> active,
                      std::vector<std::uint64_t>* keys);

/// Finds the unilateral rows that have one of the keys.
/// @param keys ascending
/// @param rows out: ascending
void find_active_rows(const RigidTerms& terms, std::span<const std::uint64_t> keys,
                      std::vector<int>* rows);

}  // namespace stiction::formulations
