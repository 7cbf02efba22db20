#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/rigid/envelope_cholesky.hpp"
#include "stiction/math/lanes.hpp"

namespace stiction::formulations {

/// Coordinates y = L^T v of one island, in which its momentum matrix, and what acts on it, is the
/// identity: A + sum w j j^T = L L^T. Rows J of constraints on v are J L^-T of y. Keeps its memory.
class Whitening {
 public:
  /// Of A: blocks of trees, and their couplings.
  void start(const contact::ContactProblem& problem, const contact::Islands& islands, int island,
             std::span<const int> first_dof, int num_dofs);
  /// Lets `add` couple dofs; before `begin`.
  void couple(std::span<const int> dofs);

  /// A, then what acts on it.
  void begin(const contact::ContactProblem& problem);
  /// Adds weight j j^T, j a row of J.
  template <int kSize>
  void add(const DenseJacobian<kSize>& J, int row, double weight);
  /// @return false if the sum is not positive definite
  bool factor() { return cholesky_.factor(); }

  void to_y(double* v) const { cholesky_.multiply_upper(v); }
  void to_v(double* y) const { cholesky_.solve_upper(y); }
  /// L^-1 f of impulses f.
  void whiten(double* f) const { cholesky_.solve_lower(f); }
  /// @param row out: num_dofs numbers
  void whiten(const DenseJacobian<1>& J, double* row) const;
  /// All rows of a contact at once, t1, t2 and n, of which those from `first_row` on are written.
  void whiten(const DenseJacobian<3>& J, int first_row, double* const* rows);

 private:
  /// Of A.
  struct Block {
    int start = 0;            // in ContactProblem::A
    int row = 0, column = 0;  // dofs of the island
    int num_rows = 0, num_columns = 0;
  };

  EnvelopeCholesky cholesky_;
  std::vector<Block> blocks_;
  std::vector<math::Lanes> lanes_;  // three rows side by side; zeros between calls
};

template <int kSize>
void Whitening::add(const DenseJacobian<kSize>& J, int row, double weight) {
  for (std::size_t i = 0; i < J.dofs.size(); ++i)
    for (std::size_t j = 0; j < J.dofs.size(); ++j)
      if (J.dofs[j] <= J.dofs[i])
        cholesky_.at(J.dofs[i], J.dofs[j]) += weight * J.columns(row, i) * J.columns(row, j);
}

}  // namespace stiction::formulations
