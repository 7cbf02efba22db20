#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {

void ContactProblem::clear(double dt) {
  time_step = dt;
  dof_start.assign(1, 0);
  block_start.assign(1, 0);
  A.clear();
  v0.clear();
  free_impulse.clear();
  pairs.clear();
  segments.clear();
  column_dof.clear();
  columns.clear();
  contacts.clear();
  rows.clear();
  row_dof.clear();
  row_columns.clear();
}

int ContactProblem::add_tree(int n) {
  dof_start.push_back(dof_start.back() + n);
  block_start.push_back(block_start.back() + n * n);
  A.resize(block_start.back(), 0.0);
  v0.resize(dof_start.back(), 0.0);
  free_impulse.resize(dof_start.back(), 0.0);
  return num_trees() - 1;
}

}  // namespace stiction::contact
