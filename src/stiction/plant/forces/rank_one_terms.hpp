#pragma once

#include <span>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {

/// Adds the rank-one terms of implicit forces to A, s j^T j, and their part of the free impulse.
/// Terms with limits are rows instead, see add_coupling_rows.
///
/// Most terms act on blocks that A couples anyway, because one is an ancestor of the other. Tendons
/// and servos that join other blocks add couplings to the problem of the step, so that A is
/// factored with them once, in an order with little fill. Keeps its memory.
class RankOneTerms {
 public:
  /// Adds the terms of blocks that A couples. Free bodies have MuJoCo's velocities.
  void add_within_trees(const Model& plant, const ImplicitForces& implicit,
                        contact::ContactProblem* problem);
  /// Adds the other terms and their couplings. Free bodies have the solver's velocities.
  void add_across(const mjData* data, const Model& plant, const ImplicitForces& implicit,
                  contact::ContactProblem* problem);

 private:
  /// The entries [begin, end) of a term in one block.
  struct Run {
    int block = 0, begin = 0, end = 0;
  };
  /// A coupling of two blocks that are not related, the lower one first.
  struct Join {
    std::pair<int, int> blocks;
    int start = 0;  // in A
  };

  void set_dofs(const Model& plant, std::span<const int> dofs);
  void list_runs(const Model& plant);
  void list_joins(const Model& plant, const ImplicitForces& implicit,
                  contact::ContactProblem* problem);
  template <class F>
  void add_terms(const Model& plant, const ImplicitForces& implicit, bool joins_blocks,
                 contact::ContactProblem* problem, F&& set_columns);
  void add_term(const Model& plant, double stiff, double scale, double velocity,
                contact::ContactProblem* problem);
  static void add_to_diagonal(const Model& plant, int dof, double scale, double value,
                              contact::ContactProblem* problem);
  int find_start(const Model& plant, int a, int b) const;
  void mirror(contact::ContactProblem* problem) const;

  // The term that is added, in the solver's dofs.
  std::vector<int> dofs_;
  std::vector<double> values_;
  std::vector<Run> runs_;
  std::vector<Join> joins_;   // ascending
  std::vector<char> is_set_;  // blocks whose upper triangle has changed
};

}  // namespace stiction::plant
