#include "stiction/contact/contact_problem.hpp"

#include "stiction/base/assert.hpp"

namespace stiction::contact {

void ContactProblem::clear(double dt) {
  time_step = dt;
  dof_start.assign(1, 0);
  is_rigid_body.clear();
  diagonal_start.clear();
  couplings.clear();
  A.clear();
  inertia.clear();
  v0.clear();
  free_impulse.clear();
  pairs.clear();
  segments.clear();
  column_dof.clear();
  columns.clear();
  contacts.clear();
  normal_guess.clear();
  lagged_impulse.clear();
  anchors.clear();
  rows.clear();
  row_dof.clear();
  row_columns.clear();
  v_star.clear();
  delassus.clear();
}

int ContactProblem::add_block(int n) {
  STICTION_ASSERT(n > 0);
  dof_start.push_back(dof_start.back() + n);
  is_rigid_body.push_back(0);
  diagonal_start.push_back(static_cast<int>(A.size()));
  A.resize(A.size() + n * n, 0.0);
  v0.resize(dof_start.back(), 0.0);
  free_impulse.resize(dof_start.back(), 0.0);
  return num_blocks() - 1;
}

int ContactProblem::add_rigid_body() {
  const int block = add_block(6);
  is_rigid_body[block] = 1;
  return block;
}

int ContactProblem::add_coupling(int row_block, int column_block) {
  STICTION_ASSERT(row_block != column_block);
  couplings.push_back({row_block, column_block, static_cast<int>(A.size())});
  A.resize(A.size() + block_size(row_block) * block_size(column_block), 0.0);
  return static_cast<int>(couplings.size()) - 1;
}

}  // namespace stiction::contact
