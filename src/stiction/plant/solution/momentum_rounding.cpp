#include "stiction/plant/solution/momentum_rounding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::plant {
namespace {

double norm(const double* a) { return math::hypot(a[0], a[1], a[2]); }

/// Returns the center of mass of a body's tree, about which MuJoCo's dof axes are.
const mjtNum* find_com(const mjModel* m, const mjData* d, int body) {
  return d->subtree_com + 3 * m->body_rootid[body];
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

/// Converts bounds on the entries of a generalized impulse from the solver's dofs to MuJoCo's. The
/// moments of a free body are rotated, so each takes the norm of all three. Sleeping dofs get 0.
/// @param out size nv
void to_mujoco_bounds(const Model& plant, std::span<const double> bounds,
                      std::vector<double>* out) {
  std::fill(out->begin(), out->end(), 0.0);
  for (const Model::Block& block : plant.blocks()) {
    const double* from = bounds.data() + block.solver_start;
    double* to = out->data() + block.dof_start;
    if (!block.is_free_body) {
      std::copy_n(from, block.num_dofs, to);
      continue;
    }
    std::copy_n(from + 3, 3, to);
    std::fill_n(to + 3, 3, norm(from));
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

double MomentumRounding::calc(const MomentumCheck::Input& input, const ImplicitForces& implicit,
                              std::span<const double> certificate) {
  start(input, input.problem.free_impulse);
  for (std::size_t i = 0; i < speeds_.size(); ++i) speeds_[i] += std::abs(input.data->qvel[i]);
  add_implicit(input, implicit);
  add_M_magnitude(input.model, input.data, speeds_, terms_);
  add_contacts(input, {});
  return finish(input, certificate);
}

double MomentumRounding::calc_accelerations(const MomentumCheck::Input& input,
                                            std::span<const double> viscous_friction,
                                            std::span<const double> certificate) {
  start(input, {});
  for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] = std::abs(input.data->qfrc_smooth[i]);
  add_M_magnitude(input.model, input.data, speeds_, terms_);
  add_contacts(input, viscous_friction);
  return finish(input, certificate);
}

/// Sets the speeds to those of the solution, and the terms to the smooth impulses.
/// @param smooth in the solver's dofs, or empty
void MomentumRounding::start(const MomentumCheck::Input& input, std::span<const double> smooth) {
  const auto convert = [&](std::span<const double> from, std::vector<double>* to) {
    solver_bounds_.assign(input.problem.num_dofs(), 0.0);
    for (std::size_t i = 0; i < from.size(); ++i) solver_bounds_[i] = std::abs(from[i]);
    to->resize(input.model->nv);
    to_mujoco_bounds(input.plant, solver_bounds_, to);
  };
  convert(input.solution.v, &speeds_);
  convert(smooth, &terms_);
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

/// Adds |J|^T |gamma| of the rows.
void MomentumRounding::add_rows(const MomentumCheck::Input& input) {
  const contact::ContactProblem& problem = input.problem;
  solver_bounds_.assign(problem.num_dofs(), 0.0);
  for (int i = 0; i < problem.num_rows(); ++i) {
    const contact::Row& row = problem.rows[i];
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
      solver_bounds_[problem.row_dof[c]] +=
          std::abs(problem.row_columns[c] * input.solution.row_impulses[i]);
  }
  bounds_.resize(terms_.size());
  to_mujoco_bounds(input.plant, solver_bounds_, &bounds_);
  for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] += bounds_[i];
}

/// Adds the rows and the certificate's bounds.
/// @return the norm of all bounds
double MomentumRounding::finish(const MomentumCheck::Input& input,
                                std::span<const double> certificate) {
  const mjModel* m = input.model;
  const mjData* d = input.data;
  project(m, d);
  add_rows(input);
  to_mujoco_bounds(input.plant, certificate, &bounds_);
  // A term passes through some ten operations on its way to a contact, and is then one of as many
  // as there are contacts and rows.
  constexpr int kOperations = 32;
  const double unit = std::numeric_limits<double>::epsilon() *
                      (kOperations + input.problem.num_contacts() + input.problem.num_rows());
  double sum = 0;
  for (int i = 0; i < m->nv; ++i) {
    const double bound = unit * terms_[i] + bounds_[i];
    sum += bound * bound / d->M[m->M_rowadr[i] + m->M_rownnz[i] - 1];
  }
  return std::sqrt(sum);
}

}  // namespace stiction::plant
