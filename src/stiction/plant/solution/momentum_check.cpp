#include "stiction/plant/solution/momentum_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/certificate/certifier.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/six.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::plant {
namespace {

using math::load_three;
using math::Vec4;

/// Returns s + a x b. The products are added to s one by one, in this order.
Vec4 add_cross(const Vec4& s, const Vec4& a, const Vec4& b) {
  const auto next = [](const Vec4& x) { return __builtin_shufflevector(x, x, 1, 2, 0, 3); };
  const auto last = [](const Vec4& x) { return __builtin_shufflevector(x, x, 2, 0, 1, 3); };
  return s + next(a) * last(b) - last(a) * next(b);
}

/// Adds a vector to four numbers.
void add(const Vec4& x, double* sum) { math::store(sum, math::load<Vec4>(sum) + x); }

double norm(const double* a) { return math::hypot(a[0], a[1], a[2]); }

/// Returns the center of mass of a body's tree, about which MuJoCo's dof axes are.
const mjtNum* find_com(const mjModel* m, const mjData* d, int body) {
  return d->subtree_com + 3 * m->body_rootid[body];
}

/// Returns the last body that carries both.
int find_common_ancestor(const mjModel* m, int A, int B) {
  while (A != B) {
    if (A < B) std::swap(A, B);  // a parent has a smaller id
    A = m->body_parentid[A];
  }
  return A;
}

/// Returns the sum of the magnitudes of the terms of a body's velocity at a point [m/s].
double calc_speed_terms(const MomentumCheck::Input& input, int body, double distance) {
  const mjData* d = input.data;
  const double arm = distance + norm(find_com(input.model, d, body));
  double sum = 0;
  for (const int dof : input.plant.dofs_of_body(body))
    sum += std::abs(d->qvel[dof]) * (norm(d->cdof + 6 * dof) * arm + norm(d->cdof + 6 * dof + 3));
  return sum;
}

/// Converts magnitudes of the entries of a velocity or an impulse from the solver's dofs to
/// MuJoCo's. The moments of a free body are rotated, so each takes the norm of all three. Sleeping
/// dofs get 0.
void to_mujoco_magnitudes(const mjModel* m, const Model& plant, std::span<const double> entries,
                          std::vector<double>* out) {
  out->assign(m->nv, 0.0);
  for (const Model::Block& block : plant.blocks()) {
    const double* from = entries.data() + block.solver_start;
    double* to = out->data() + block.dof_start;
    for (int i = 0; i < block.num_dofs; ++i)
      to[i] = !block.is_free_body ? std::abs(from[i]) : i < 3 ? std::abs(from[3 + i]) : norm(from);
  }
}

/// Adds |M| x to y.
void add_M_magnitude(const mjModel* m, const mjData* d, std::span<const double> x,
                     std::span<double> y) {
  for (int i = 0; i < m->nv; ++i) {
    const int begin = m->M_rowadr[i], end = begin + m->M_rownnz[i];
    for (int k = begin; k < end; ++k) {
      const int j = m->M_colind[k];
      y[i] += std::abs(d->M[k]) * x[j];
      if (j != i) y[j] += std::abs(d->M[k]) * x[i];
    }
  }
}

}  // namespace

void MomentumCheck::resize(const mjModel* m, const Model& plant) {
  // Dofs of sleeping trees stay 0; the others get values.
  if (plant.num_dofs() < m->nv || std::ssize(change_) != m->nv) {
    for (auto* array : {&change_, &inertial_, &impulse_, &row_force_}) array->resize(m->nv);
    for (auto* array : {&v_, &acceleration_, &smooth_impulse_, &imbalance_})
      array->assign(m->nv, 0.0);
  }
  wrench_.assign(m->nbody, {});
}

void MomentumCheck::add_contact_wrenches(const Input& input,
                                         std::span<const std::array<double, 6>> impulses) {
  const mjModel* m = input.model;
  const mjData* d = input.data;
  // Contacts between the same two bodies are summed about the world's origin.
  Vec4 moment{}, force{}, half_gap{};
  int body_A = 0, body_B = 0;
  // A body's wrench is about the center of mass of its tree, as MuJoCo's dof axes are.
  const auto add_to = [&](int body, double sign) {
    const Vec4 com = load_three(d->subtree_com + 3 * m->body_rootid[body]);
    add(sign * add_cross(moment, sign * half_gap - com, force), wrench_[body].moment);
    add(sign * force, wrench_[body].force);
  };
  const auto flush = [&] {
    add_to(body_A, -1);
    add_to(body_B, 1);
    // The points meet when the force acts, so a body that carries both gets no moment.
    add(-2 * add_cross(Vec4{}, half_gap, force),
        wrench_[find_common_ancestor(m, body_A, body_B)].moment);
    moment = force = Vec4{};
  };
  for (const contact::BodyPair& pair : input.problem.pairs) {
    const Vec4 origin = load_three(pair.origin.data());
    flush();
    half_gap = load_three(pair.half_gap.data());
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = input.problem.contacts[i];
      const mjContact& con = d->contact[c.source];
      const int A = m->geom_bodyid[con.geom[0]], B = m->geom_bodyid[con.geom[1]];
      if (A != body_A || B != body_B) {
        flush();
        body_A = A;
        body_B = B;
      }
      // MuJoCo's frame: rows n, t1, t2. The points of a patch have frames of their own.
      const bool is_face = c.face >= 0;
      const double* R = c.R_WC.data();
      const Vec4 n = load_three(is_face ? R + 6 : con.frame);
      const Vec4 t1 = load_three(is_face ? R : con.frame + 3);
      const Vec4 t2 = load_three(is_face ? R + 3 : con.frame + 6);
      const std::array<double, 6>& gamma = impulses[i];
      const Vec4 f = gamma[2] * n + gamma[0] * t1 + gamma[1] * t2;
      const Vec4 torque = gamma[3] * n + gamma[4] * t1 + gamma[5] * t2;
      force += f;
      moment += add_cross(torque, origin + load_three(c.offset.data()), f);
    }
  }
  flush();
}

void MomentumCheck::project_wrenches(const mjModel* m, const mjData* d) {
  // Leaves to root: a dof carries the wrenches of its own body and of all its descendants.
  for (int body = static_cast<int>(m->nbody) - 1; body > 0; --body) {
    const Wrench& wrench = wrench_[body];
    for (int i = m->body_dofadr[body]; i < m->body_dofadr[body] + m->body_dofnum[body]; ++i) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += d->cdof[6 * i + k] * wrench.moment[k];
      for (int k = 0; k < 3; ++k) sum += d->cdof[6 * i + 3 + k] * wrench.force[k];
      impulse_[i] = sum;
    }
    Wrench& parent = wrench_[m->body_parentid[body]];
    add(math::load<Vec4>(wrench.moment), parent.moment);
    add(math::load<Vec4>(wrench.force), parent.force);
  }
}

MomentumCheck::Result MomentumCheck::calc(const Input& input, const ImplicitForces& implicit) {
  if (input.problem.num_dofs() == 0) return {};  // all trees sleep
  const mjModel* m = input.model;
  const mjData* d = input.data;
  resize(m, input.plant);
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
  resize(m, input.plant);
  to_mujoco_dofs(d, input.plant, input.solution.v.data(), acceleration_.data());
  velocities_.calc(m, d, d->qvel);
  impulses_.assign(input.solution.impulses.begin(), input.solution.impulses.end());
  for (const contact::BodyPair& pair : input.problem.pairs) {
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = input.problem.contacts[i];
      double p[3];
      for (int k = 0; k < 3; ++k) p[k] = pair.origin[k] + c.offset[k];
      const std::array<double, 2> v_t =
          velocities_.calc_at_point(m, d, d->contact[c.source], p, pair.half_gap.data()).tangential;
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
  if (limit_rows(d).end > 0) {
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

double MomentumRounding::calc(const MomentumCheck::Input& input, const ImplicitForces& implicit,
                              std::span<const double> certificate) {
  to_mujoco_magnitudes(input.model, input.plant, input.solution.v, &speeds_);
  to_mujoco_magnitudes(input.model, input.plant, input.problem.free_impulse, &terms_);
  for (std::size_t i = 0; i < speeds_.size(); ++i) speeds_[i] += std::abs(input.data->qvel[i]);
  add_implicit(input, implicit);
  return finish(input, {}, certificate);
}

double MomentumRounding::calc_accelerations(const MomentumCheck::Input& input,
                                            std::span<const double> viscous_friction,
                                            std::span<const double> certificate) {
  to_mujoco_magnitudes(input.model, input.plant, input.solution.v, &speeds_);
  terms_.resize(speeds_.size());
  for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] = std::abs(input.data->qfrc_smooth[i]);
  return finish(input, viscous_friction, certificate);
}

/// Adds the terms of implicit springs and dampers.
void MomentumRounding::add_implicit(const MomentumCheck::Input& input,
                                    const ImplicitForces& implicit) {
  const double dt = input.problem.time_step;
  for (std::size_t i = 0; i < terms_.size(); ++i)
    terms_[i] +=
        (dt * implicit.diagonal_damping()[i] + dt * dt * implicit.diagonal_stiffness()[i]) *
        speeds_[i];
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (term.limit >= 0) continue;  // a row, see add_rows
    double speed = std::abs(term.velocity);
    for (int e = term.first; e < term.first + term.size; ++e)
      speed += std::abs(implicit.value(e)) * speeds_[implicit.dof(e)];
    const double impulse = (dt * dt * term.stiffness + dt * term.damping) * speed;
    for (int e = term.first; e < term.first + term.size; ++e)
      terms_[implicit.dof(e)] += std::abs(implicit.value(e)) * impulse;
  }
}

/// Adds the magnitudes of the contacts' wrenches to those of their bodies.
/// @param viscous_friction nu of each contact [N s/m], or empty
void MomentumRounding::add_contacts(const MomentumCheck::Input& input,
                                    std::span<const double> viscous_friction) {
  const mjModel* m = input.model;
  wrench_.assign(m->nbody, {});
  for (const contact::BodyPair& pair : input.problem.pairs) {
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = input.problem.contacts[i];
      const mjContact& con = input.data->contact[c.source];
      const int bodies[] = {m->geom_bodyid[con.geom[0]], m->geom_bodyid[con.geom[1]]};
      const double distance = norm(pair.origin.data()) + norm(c.offset.data());
      const std::array<double, 6>& gamma = input.solution.impulses[i];
      double force = norm(gamma.data());
      if (!viscous_friction.empty())
        for (const int body : bodies)
          force += viscous_friction[i] * calc_speed_terms(input, body, distance);
      const double moment = norm(gamma.data() + 3) + distance * force;
      for (const int body : bodies) {
        wrench_[body].force += force;
        wrench_[body].moment += moment;
      }
    }
  }
}

/// Adds the magnitudes of the wrenches to the dofs that they act on, from the leaves to the root.
void MomentumRounding::project(const mjModel* m, const mjData* d) {
  for (int body = static_cast<int>(m->nbody) - 1; body > 0; --body) {
    const Magnitude& wrench = wrench_[body];
    // The wrench is shifted to the center of mass, and the certificate measures from the joint.
    const double arm = norm(find_com(m, d, body)) + norm(d->xpos + 3 * body);
    for (int i = m->body_dofadr[body]; i < m->body_dofadr[body] + m->body_dofnum[body]; ++i)
      terms_[i] += norm(d->cdof + 6 * i) * (wrench.moment + arm * wrench.force) +
                   norm(d->cdof + 6 * i + 3) * wrench.force;
    Magnitude& parent = wrench_[m->body_parentid[body]];
    parent.force += wrench.force;
    parent.moment += wrench.moment;
  }
}

/// Adds the terms of inertia, contacts and rows, and the certificate's bounds.
/// @return the norm of all bounds
double MomentumRounding::finish(const MomentumCheck::Input& input,
                                std::span<const double> viscous_friction,
                                std::span<const double> certificate) {
  const mjModel* m = input.model;
  const mjData* d = input.data;
  const contact::ContactProblem& problem = input.problem;
  add_M_magnitude(m, d, speeds_, terms_);
  add_contacts(input, viscous_friction);
  project(m, d);
  row_terms_.assign(problem.num_dofs(), 0.0);
  for (int i = 0; i < problem.num_rows(); ++i) {
    const contact::Row& row = problem.rows[i];
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
      row_terms_[problem.row_dof[c]] +=
          std::abs(problem.row_columns[c] * input.solution.row_impulses[i]);
  }
  to_mujoco_magnitudes(m, input.plant, row_terms_, &speeds_);
  for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] += speeds_[i];
  to_mujoco_magnitudes(m, input.plant, certificate, &bounds_);
  const double unit = certificate::calc_rounding_unit(problem);
  double sum = 0;
  for (int i = 0; i < m->nv; ++i) {
    const double bound = unit * terms_[i] + bounds_[i];
    sum += bound * bound / d->M[m->M_rowadr[i] + m->M_rownnz[i] - 1];
  }
  return std::sqrt(sum);
}

}  // namespace stiction::plant
