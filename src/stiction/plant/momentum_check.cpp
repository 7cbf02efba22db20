#include "stiction/plant/momentum_check.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/dynamics.hpp"

namespace stiction::plant {

void MomentumCheck::resize(const mjModel* m) {
  for (auto* array : {&change_, &inertial_, &impulse_, &row_force_}) array->resize(m->nv);
  // Dofs of sleeping trees stay 0.
  for (auto* array : {&v_, &acceleration_, &smooth_impulse_, &imbalance_})
    array->assign(m->nv, 0.0);
  wrench_.assign(6 * m->nbody, 0.0);
}

void MomentumCheck::add_contact_wrenches(const Input& input,
                                         std::span<const std::array<double, 6>> impulses) {
  const mjModel* m = input.model;
  const mjData* d = input.data;
  // Contacts between the same two bodies are summed about the world's origin.
  double moment[3] = {}, force[3] = {};
  int body_A = 0, body_B = 0;
  const auto flush = [&] {
    add_wrench(m, d, body_A, -1, moment, force);
    add_wrench(m, d, body_B, 1, moment, force);
    std::fill_n(moment, 3, 0.0);
    std::fill_n(force, 3, 0.0);
  };
  for (const contact::BodyPair& pair : input.problem.pairs) {
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = input.problem.contacts[i];
      const mjContact& con = d->contact[c.source];
      const int A = m->geom_bodyid[con.geom[0]], B = m->geom_bodyid[con.geom[1]];
      if (A != body_A || B != body_B) {
        flush();
        body_A = A;
        body_B = B;
      }
      const std::array<double, 6>& gamma = impulses[i];
      double f[3], torque[3], p[3];
      for (int k = 0; k < 3; ++k) {
        // MuJoCo's frame: rows n, t1, t2. The points of a patch have frames of their own.
        const bool is_face = c.face >= 0;
        const double n = is_face ? c.R_WC[6 + k] : con.frame[k];
        const double t1 = is_face ? c.R_WC[k] : con.frame[3 + k];
        const double t2 = is_face ? c.R_WC[3 + k] : con.frame[6 + k];
        f[k] = gamma[2] * n + gamma[0] * t1 + gamma[1] * t2;
        torque[k] = gamma[3] * n + gamma[4] * t1 + gamma[5] * t2;
        p[k] = pair.origin[k] + c.offset[k];
      }
      for (int k = 0; k < 3; ++k) {
        const int l = (k + 1) % 3, o = (k + 2) % 3;
        force[k] += f[k];
        moment[k] += torque[k] + p[l] * f[o] - p[o] * f[l];
      }
    }
  }
  flush();
}

/// Adds a wrench impulse about the world's origin to the wrench of a body. The latter is about the
/// center of mass of the body's tree, as MuJoCo's dof axes are.
void MomentumCheck::add_wrench(const mjModel* m, const mjData* d, int body, double sign,
                               const double moment[3], const double force[3]) {
  const mjtNum* com = d->subtree_com + 3 * m->body_rootid[body];
  double* wrench = wrench_.data() + 6 * body;
  for (int k = 0; k < 3; ++k) {
    const int l = (k + 1) % 3, o = (k + 2) % 3;
    wrench[k] += sign * (moment[k] - com[l] * force[o] + com[o] * force[l]);
    wrench[3 + k] += sign * force[k];
  }
}

void MomentumCheck::project_wrenches(const mjModel* m, const mjData* d) {
  // Leaves to root: a dof carries the wrenches of its own body and of all its descendants.
  for (int body = static_cast<int>(m->nbody) - 1; body > 0; --body) {
    const double* wrench = wrench_.data() + 6 * body;
    for (int i = m->body_dofadr[body]; i < m->body_dofadr[body] + m->body_dofnum[body]; ++i) {
      double sum = 0;
      for (int k = 0; k < 6; ++k) sum += d->cdof[6 * i + k] * wrench[k];
      impulse_[i] = sum;
    }
    const int parent = m->body_parentid[body];
    if (parent > 0)
      for (int k = 0; k < 6; ++k) wrench_[6 * parent + k] += wrench[k];
  }
}

MomentumCheck::Result MomentumCheck::calc(const Input& input, const ImplicitForces& implicit) {
  if (input.problem.num_dofs() == 0) return {};  // all trees sleep
  const mjModel* m = input.model;
  const mjData* d = input.data;
  resize(m);
  to_mujoco_dofs(d, input.plant, input.solution.v.data(), v_.data());
  for (int i = 0; i < m->nv; ++i) change_[i] = v_[i] - d->qvel[i];
  to_mujoco_dofs(d, input.plant, input.problem.free_impulse.data(), smooth_impulse_.data());
  add_implicit_impulses(input, implicit);
  return compare(
      input, {.motion = change_, .smooth = smooth_impulse_, .impulses = input.solution.impulses});
}

MomentumCheck::Result MomentumCheck::calc_accelerations(const Input& input,
                                                        std::span<const double> viscous_friction) {
  const mjModel* m = input.model;
  const mjData* d = input.data;
  resize(m);
  to_mujoco_dofs(d, input.plant, input.solution.v.data(), acceleration_.data());
  velocities_.calc(m, d, d->qvel);
  impulses_.assign(input.solution.impulses.begin(), input.solution.impulses.end());
  for (const contact::BodyPair& pair : input.problem.pairs) {
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = input.problem.contacts[i];
      double p[3];
      for (int k = 0; k < 3; ++k) p[k] = pair.origin[k] + c.offset[k];
      const std::array<double, 2> v_t =
          velocities_.calc_at_point(m, d, d->contact[c.source], p).tangential;
      for (int t = 0; t < 2; ++t) impulses_[i][t] -= viscous_friction[i] * v_t[t];
    }
  }
  return compare(input, {.motion = acceleration_,
                         .smooth = {d->qfrc_smooth, static_cast<std::size_t>(m->nv)},
                         .impulses = impulses_});
}

/// Adds the implicit terms to the smooth impulse. The force of a servo with limits is not linear,
/// so its impulse is the one reported.
void MomentumCheck::add_implicit_impulses(const Input& input, const ImplicitForces& implicit) {
  const double dt = input.problem.time_step;
  for (std::size_t i = 0; i < smooth_impulse_.size(); ++i)
    smooth_impulse_[i] -=
        (dt * implicit.diagonal_damping()[i] + dt * dt * implicit.diagonal_stiffness()[i]) *
        change_[i];
  int row = find_first_coupling_row(implicit, input.problem);
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    // The free impulse already has -dt^2 k j v0 of a term in A.
    double impulse = 0;
    if (term.limit < 0) {
      for (int e = term.first; e < term.first + term.size; ++e)
        impulse -= implicit.value(e) * change_[implicit.dof(e)];
      impulse *= dt * dt * term.stiffness + dt * term.damping;
    } else {
      impulse = input.solution.row_impulses[row++];
    }
    for (int e = term.first; e < term.first + term.size; ++e)
      smooth_impulse_[implicit.dof(e)] += impulse * implicit.value(e);
  }
}

MomentumCheck::Result MomentumCheck::compare(const Input& input, const Balance& balance) {
  const mjModel* m = input.model;
  mjData* d = input.data;
  mj_mulM(m, d, inertial_.data(), balance.motion.data());
  add_contact_wrenches(input, balance.impulses);
  std::fill(impulse_.begin(), impulse_.end(), 0.0);
  project_wrenches(m, d);
  if (d->nefc > 0) {
    // Contacts have empty rows in MuJoCo's Jacobian, so this is the force of the other rows.
    mj_mulJacTVec(m, d, row_force_.data(), d->efc_force);
    for (int i = 0; i < m->nv; ++i) impulse_[i] += input.problem.time_step * row_force_[i];
  }
  to_mujoco_dofs(d, input.plant, input.imbalance.data(), imbalance_.data());
  return calc_norms(m, d, balance.smooth);
}

MomentumCheck::Result MomentumCheck::calc_norms(const mjModel* m, const mjData* d,
                                                std::span<const double> smooth) const {
  double r2 = 0, e2 = 0, p2 = 0, s2 = 0, f2 = 0;
  for (int i = 0; i < m->nv; ++i) {
    const double D2 = 1 / d->M[m->M_rowadr[i] + m->M_rownnz[i] - 1];
    const double r = inertial_[i] - smooth[i] - impulse_[i];
    const double e = r - imbalance_[i];
    r2 += D2 * r * r;
    e2 += D2 * e * e;
    p2 += D2 * inertial_[i] * inertial_[i];
    s2 += D2 * smooth[i] * smooth[i];
    f2 += D2 * impulse_[i] * impulse_[i];
  }
  return {.residual = std::sqrt(r2),
          .mismatch = std::sqrt(e2),
          .scale = std::sqrt(std::max({p2, s2, f2}))};
}

}  // namespace stiction::plant
