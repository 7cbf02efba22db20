#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/numerics/factorizations.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::formulations {

/// Coordinates y = L^T v of one island, in which its momentum matrix with the implicit forces that
/// act on it is the identity: A + sum w j j^T = L L^T. A row J of constraints on v is J L^-T on y.
/// The calls of a step are `start`, `couple`; then, any number of times, `begin`, `add`, `factor`
/// and the transformations. Keeps its memory. Source: [theory:projection].
class Whitening {
 public:
  /// Starts the envelope of A: blocks of trees, and their couplings.
  /// @param first_dof of every block of the problem within its island
  void start(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
             std::span<const int> first_dof, int num_dofs);
  /// Widens the envelope, so that `add` may couple these dofs of the island.
  void couple(std::span<const int> dofs);

  /// Sets the matrix to A.
  void begin(const contact::ContactProblem& problem);
  /// Adds weight j j^T to the matrix, where j^T is a row of J.
  template <int kSize>
  void add(const DenseJacobian<kSize>& J, int row, double weight);
  /// Factors the matrix.
  /// @return false if it is not positive definite
  [[nodiscard]] bool factor() { return cholesky_.factor(); }

  /// Replaces v by L^T v.
  void to_y(double* v) const { cholesky_.multiply_upper(v); }
  /// Replaces y by L^-T y.
  void to_v(double* y) const { cholesky_.solve_upper(y); }
  /// Replaces impulses f by L^-1 f.
  void whiten(double* f) const { cholesky_.solve_lower(f); }
  /// Whitens a row.
  /// @param row out: num_dofs numbers
  void whiten(const DenseJacobian<1>& J, double* row) const;
  /// Whitens the rows t1, t2 and n of a contact at once.
  /// @param first_row rows from this one on are written: 0, or 2 for the normal alone
  /// @param rows      out: num_dofs numbers each; rows before first_row may be null
  void whiten(const DenseJacobian<3>& J, int first_row, double* const* rows);

 private:
  /// A block of A.
  struct Block {
    int start = 0;            // in ContactProblem::A
    int row = 0, column = 0;  // dofs of the island
    int num_rows = 0, num_columns = 0;
  };

  numerics::EnvelopeCholesky cholesky_;
  std::vector<Block> blocks_;
  std::vector<math::Lanes> lanes_;  // scratch for three rows; zero between calls
};

template <int kSize>
void Whitening::add(const DenseJacobian<kSize>& J, int row, double weight) {
  STICTION_ASSERT(0 <= row && row < kSize);
  for (std::size_t i = 0; i < J.dofs.size(); ++i)
    for (std::size_t j = 0; j < J.dofs.size(); ++j)
      if (J.dofs[j] <= J.dofs[i])
        cholesky_.at(J.dofs[i], J.dofs[j]) += weight * J.columns(row, i) * J.columns(row, j);
}

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
