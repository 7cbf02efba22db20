#pragma once

#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/rigid_contact_check.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Counts the active contacts and limits of a rigid step, those with an impulse, and how many are
/// enough: n - rank X in an island of n dofs with bilateral rows X, which are its equalities and,
/// for bilateral tangents, the tangents of its sticking contacts.
/// Source: Theorem 1 of [drumwright2015]; [theory:num-pushing].
class ActiveSet {
 public:
  struct Count {
    int num_active = 0;
    int max_active = 0;
  };
  Count count(const SolvedStep& step, const RigidContactCheck& contacts, int island);

 private:
  int find_rank(const SolvedStep& step, const RigidContactCheck& contacts, int island);
  void add_row(const SolvedStep& step);
  int count_independent();

  std::vector<int> dofs_;     // of the island
  std::vector<double> row_;   // one row of X, size num_dofs
  std::vector<double> rows_;  // X diag(A)^(-1/2) with rows of length 1; an entry for each of dofs_
};

}  // namespace stiction::certificate
