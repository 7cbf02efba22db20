#pragma once

#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/rigid_contact_check.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

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
  void add_row(const SolvedStep& step);
  int count_independent_rows();

  std::vector<int> dofs_;     // dofs of the island
  std::vector<double> row_;   // one row of X, size num_dofs
  std::vector<double> rows_;  // X diag(A)^(-1/2) with rows of length 1; an entry for each of dofs_
};

}  // namespace stiction::certificate
