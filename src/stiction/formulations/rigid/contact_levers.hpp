#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/whitening.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::formulations {

/// Tells which rows of contacts are independent of other rows only through a lever that is too
/// short to count.
///
/// If a contact point moves by l, its row t, which is t (v + w x l) with the relative angular
/// velocity w of its bodies, changes by m w with m = l x t. Surfaces touch at distances below
/// contact::kTouchDistance, so contact points are known only to that distance. A row of which no
/// more than m w with such a short m is left after the projection on the null space of other rows
/// counts as dependent. Its impulse would have to be a moment divided by |m|. Source:
/// [theory:short-levers].
class ContactLevers {
 public:
  /// Whitens the angular velocity of each pair of bodies.
  void assemble(const RigidTerms& terms, const Whitening& whitening);

  /// Returns true if no more than a short lever is left of a row.
  /// @param contact   of RigidTerms
  /// @param reach     the length of short levers [m]
  /// @param squared   |row|^2 of the whitened row before the projection
  /// @param remainder of the row on the null space of the basis, size num_dofs
  bool is_short(int contact, double reach, double squared, std::span<const double> remainder,
                const numerics::RowBasis& basis) const;

  /// Returns the relative angular speed of a contact's bodies at y = L^T v [rad/s].
  double calc_spin(int contact, std::span<const double> y) const;

 private:
  void whiten_pair(const RigidTerms& terms, int contact, const Whitening& whitening);

  int num_columns_ = 0;
  std::vector<int> place_of_contact_;  // of each contact's pair in spins_ and squared_spins_
  std::vector<double> spins_;          // w of each pair in the world frame, three whitened rows
  std::vector<double> squared_spins_;  // sum of the squares of these rows, of each pair
  mutable std::vector<double> rows_, along_;  // scratch of is_short
};

}  // namespace stiction::formulations
