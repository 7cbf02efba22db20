#include "stiction/plant/ball_limits.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/plant/mujoco_contact.hpp"

namespace stiction::plant {
namespace {

/// Returns the entries of a joint's three dofs in a row of efc_J.
mjtNum* find_entries(const mjModel* m, mjData* d, int row, int dof) {
  if (!mj_isSparse(m)) return d->efc_J + static_cast<std::size_t>(row) * m->nv + dof;
  STICTION_ASSERT(d->efc_J_rownnz[row] == 3);  // the row has no other entries
  return d->efc_J + d->efc_J_rowadr[row];
}

void turn_row(const mjModel* m, mjData* d, const mjtNum* qvel, int row) {
  const int joint = d->efc_id[row], dof = m->jnt_dofadr[joint];
  const double dt = m->opt.timestep;
  const mjtNum* const w = qvel + dof;
  mjtNum q[4], turn[3];
  mju_copy4(q, d->qpos + m->jnt_qposadr[joint]);
  mju_normalize4(q);
  mju_quat2Vel(turn, q, 1);
  const double angle_now = mju_norm3(turn);
  if (angle_now > 0 && !(angle_now < dt * mju_norm3(w))) return;
  mju_quatIntegrate(q, w, dt);
  mju_quat2Vel(turn, q, 1);
  const double angle = mju_norm3(turn);
  mju_scl3(turn, turn, angle > 0 ? 1 / angle : 0);
  mju_scl3(find_entries(m, d, row, dof), turn, -1);
  const mjtNum* const range = m->jnt_range + 2 * static_cast<std::size_t>(joint);
  d->efc_pos[row] = std::max(range[0], range[1]) - angle + dt * mju_dot3(turn, w);
}

}  // namespace

void turn_ball_limits(const mjModel* m, mjData* d, const mjtNum* qvel) {
  const RowRange rows = limit_rows(d);
  for (int row = rows.begin; row < rows.end; ++row)
    if (d->efc_type[row] == mjCNSTR_LIMIT_JOINT && m->jnt_type[d->efc_id[row]] == mjJNT_BALL)
      turn_row(m, d, qvel, row);
}

}  // namespace stiction::plant
