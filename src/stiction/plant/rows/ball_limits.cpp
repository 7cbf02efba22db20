#include "stiction/plant/rows/ball_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/mujoco/mujoco_contact.hpp"

namespace stiction::plant {
namespace {

/// Returns the entries of a joint's three dofs in a row of efc_J.
mjtNum* find_entries(const mjModel* m, mjData* d, int row, int dof) {
  if (!mj_isSparse(m)) return d->efc_J + static_cast<std::size_t>(row) * m->nv + dof;
  STICTION_ASSERT(d->efc_J_rownnz[row] == 3);  // the row has no other entries
  return d->efc_J + d->efc_J_rowadr[row];
}

/// Sets g to the gradient of the angle at the end of a rotation by phi, relative to phi. An axis n
/// of the rotation there is n in both frames, and a change of phi turns the end by J_r(phi), the
/// right Jacobian of SO(3), so g = J_r(phi)^T n.
void calc_gradient(const mjtNum phi[3], const mjtNum n[3], mjtNum g[3]) {
  const double angle = mju_norm3(phi);
  const bool is_small = angle < 1e-4;
  const double a = is_small ? 0.5 : (1 - math::cos(angle)) / (angle * angle);
  const double b = is_small ? 1.0 / 6 : (angle - math::sin(angle)) / (angle * angle * angle);
  mjtNum first[3], second[3];
  mju_cross(first, phi, n);
  mju_cross(second, phi, first);
  for (int i = 0; i < 3; ++i) g[i] = n[i] + a * first[i] + b * second[i];
}

void turn_row(const mjModel* m, mjData* d, const mjtNum* qvel, BallLimitRows which, int row) {
  const int joint = d->efc_id[row], dof = m->jnt_dofadr[joint];
  const double dt = m->opt.timestep;
  const mjtNum* const w = qvel + dof;
  mjtNum q[4], turn[3], phi[3], gradient[3];
  mju_copy4(q, d->qpos + m->jnt_qposadr[joint]);
  mju_normalize4(q);
  mju_quat2Vel(turn, q, 1);
  const double angle_now = mju_norm3(turn);
  const bool may_turn = angle_now == 0 || angle_now < dt * mju_norm3(w);
  if (which == BallLimitRows::near_zero && !may_turn) return;
  mju_quatIntegrate(q, w, dt);
  mju_quat2Vel(turn, q, 1);
  const double angle = mju_norm3(turn);
  mju_scl3(turn, turn, angle > 0 ? 1 / angle : 0);
  mju_scl3(phi, w, dt);
  calc_gradient(phi, turn, gradient);
  mju_scl3(find_entries(m, d, row, dof), gradient, -1);
  const mjtNum* const range = m->jnt_range + 2 * static_cast<std::size_t>(joint);
  d->efc_pos[row] = std::max(range[0], range[1]) - angle + mju_dot3(gradient, phi);
}

}  // namespace

void turn_ball_limits(const mjModel* m, mjData* d, const mjtNum* qvel, BallLimitRows which) {
  const RowRange rows = limit_rows(d);
  for (int row = rows.begin; row < rows.end; ++row)
    if (d->efc_type[row] == mjCNSTR_LIMIT_JOINT && m->jnt_type[d->efc_id[row]] == mjJNT_BALL)
      turn_row(m, d, qvel, which, row);
}

}  // namespace stiction::plant
