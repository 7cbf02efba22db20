#include "stiction/plant/rows/limit_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/mocap/mocap_rows.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {
namespace {

/// The distances to the two ends of a range, and the speeds at which these distances shrink.
struct Ends {
  double distance[2], speed[2];
  bool has_direction = true;  // false: the unknown acceleration decides where the end is reached
};

Ends find_ends(double value, double velocity, const mjtNum* range) {
  return {{value - range[0], range[1] - value}, {-velocity, velocity}};
}

Ends find_joint_ends(const mjModel* m, const mjData* d, const double* qvel, int joint) {
  const mjtNum* q = d->qpos + m->jnt_qposadr[joint];
  const double* v = qvel + m->jnt_dofadr[joint];
  const mjtNum* range = m->jnt_range + 2 * joint;
  if (m->jnt_type[joint] != mjJNT_BALL) return find_ends(*q, *v, range);
  // The range of a ball joint's angle has an upper end only. The angle grows at most at the speed.
  mjtNum turn[3], unit[4] = {q[0], q[1], q[2], q[3]};
  mju_normalize4(unit);
  mju_quat2Vel(turn, unit, 1);
  const double infinity = std::numeric_limits<double>::infinity();
  const double angle = mju_norm3(turn), speed = mju_norm3(v), dt = m->opt.timestep;
  return {{infinity, std::max(range[0], range[1]) - angle},
          {0, speed},
          std::max(angle, dt * speed) > dt * dt * SpeculativeLimits::kUnknownAcceleration};
}

double calc_tendon_velocity(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                            const double* qvel, int tendon) {
  double v = mocap.is_any() ? calc_mocap_tendon_velocity(m, d, mocap, tendon) : 0;
  const int first = m->ten_J_rowadr[tendon];
  for (int i = first; i < first + m->ten_J_rownnz[tendon]; ++i)
    v += d->ten_J[i] * qvel[m->ten_J_colind[i]];
  return v;
}

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

void SpeculativeLimits::choose(const mjModel* m, const mjData* d, const MocapMotion& mocap) {
  joint_margin_.assign(m->jnt_margin, m->jnt_margin + m->njnt);
  tendon_margin_.assign(m->tendon_margin, m->tendon_margin + m->ntendon);
  const double dt = m->opt.timestep;
  add(m, d, mocap, d->qvel, dt * dt * kUnknownAcceleration);
}

bool SpeculativeLimits::add_reached(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                                    const double* qvel) {
  return add(m, d, mocap, qvel, 0);
}

/// Widens the margins of the limits that would be reached within the step.
/// @param slack distance that a joint may move in addition to its velocity's [m, rad]
/// @return true if there are new ones
bool SpeculativeLimits::add(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                            const double* qvel, double slack) {
  const double dt = m->opt.timestep;
  bool is_any = false;
  const auto take = [&](const Ends& ends, double margin, mjtNum* widened) {
    for (int end = 0; end < 2; ++end) {
      const double distance = ends.distance[end];
      const double ahead = dt * ends.speed[end] + (ends.has_direction ? slack : 0);
      if (distance < *widened || !(distance - margin < ahead)) continue;
      *widened = std::nextafter(distance, std::numeric_limits<double>::infinity());
      is_any = true;
    }
  };
  for (int joint = 0; joint < m->njnt; ++joint)
    if (m->jnt_limited[joint])
      take(find_joint_ends(m, d, qvel, joint), m->jnt_margin[joint], &joint_margin_[joint]);
  for (int tendon = 0; tendon < m->ntendon; ++tendon)
    if (m->tendon_limited[tendon])
      take(find_ends(d->ten_length[tendon], calc_tendon_velocity(m, d, mocap, qvel, tendon),
                     m->tendon_range + 2 * tendon),
           m->tendon_margin[tendon], &tendon_margin_[tendon]);
  return is_any;
}

void SpeculativeLimits::widen(mjModel* shadow) const {
  shadow->jnt_margin = const_cast<mjtNum*>(joint_margin_.data());
  shadow->tendon_margin = const_cast<mjtNum*>(tendon_margin_.data());
}

void SpeculativeLimits::restore_margins(const mjModel* m, mjData* d) {
  const RowRange rows = limit_rows(d);
  for (int row = rows.begin; row < rows.end; ++row)
    d->efc_margin[row] = d->efc_type[row] == mjCNSTR_LIMIT_JOINT ? m->jnt_margin[d->efc_id[row]]
                                                                 : m->tendon_margin[d->efc_id[row]];
}

void turn_ball_limits(const mjModel* m, mjData* d, const mjtNum* qvel, BallLimitRows which) {
  const RowRange rows = limit_rows(d);
  for (int row = rows.begin; row < rows.end; ++row)
    if (d->efc_type[row] == mjCNSTR_LIMIT_JOINT && m->jnt_type[d->efc_id[row]] == mjJNT_BALL)
      turn_row(m, d, qvel, which, row);
}

}  // namespace stiction::plant
