#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/rigid/envelope_cholesky.hpp"
#include "stiction/math/lanes.hpp"

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

  EnvelopeCholesky cholesky_;
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

}  // namespace stiction::formulations
