#pragma once

#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/rigid_checks.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Counts the eigenvalues of a symmetric matrix above a threshold. Memory is reused.
///
/// Householder's reflections make the matrix tridiagonal, and the signs of the pivots of T - t I
/// count the eigenvalues (Sturm). The error of an eigenvalue is a few units of double precision
/// times the largest one.
class EigenvalueCount {
 public:
  /// @param n      size of the matrix
  /// @param matrix in: n x n, full; destroyed
  int count_above(int n, double threshold, std::vector<double>* matrix);

 private:
  void reduce(int n, double* A);

  std::vector<double> diagonal_, off_diagonal_;  // of the tridiagonal matrix T
  std::vector<double> reflector_, product_;
};

/// Counts the active contacts and limits of a rigid step, which are those with an impulse, and the
/// number of them that is enough.
///
/// In an island of n dofs, n - rank X of them are enough. The bilateral rows X are the equalities
/// and, in models with bilateral tangents, the tangents of the sticking contacts. Source: Theorem 1
/// of [drumwright2015]; [theory:num-active].
class ActiveSet {
 public:
  struct Count {
    int num_active = 0;
    int max_active = 0;
  };
  /// Counts the active contacts and limits of one island.
  Count count(const SolvedStep& step, const RigidContactCheck& contacts, int island);

 private:
  int find_rank(const SolvedStep& step, const RigidContactCheck& contacts, int island);
  double take_row(const SolvedStep& step, double* row);
  double calc_spin(const SolvedStep& step, const contact::BodyPair& pair);
  void add_row(const SolvedStep& step, double short_lever);
  int count_independent_rows();

  std::vector<int> dofs_;     // dofs of the island
  std::vector<double> row_;   // one row of X, size num_dofs
  std::vector<double> spin_;  // a row of an angular velocity, like a row of rows_
  // X diag(A)^(-1/2), each row in units of the distance at which it counts as dependent; an entry
  // for each of dofs_.
  std::vector<double> rows_;
  std::vector<double> gram_;
  EigenvalueCount eigenvalues_;
};

}  // namespace stiction::certificate
