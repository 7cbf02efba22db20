#include "stiction/certificate/substep_check.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/contact/residual_scale.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::Contact;
using contact::IslandStatistics;
using contact::Row;

void SubstepCheck::calc(const ContactProblem& problem, const Islands& islands, ContactModel model,
                        const ModelParameters& parameters, double tolerance,
                        double absolute_tolerance, const ContactSolution& solution) {
  verdict_ = {};
  relative_residual_ = 0;
  const auto is_whole = [](const IslandStatistics& island) { return island.num_substeps == 1; };
  if (std::all_of(solution.islands.begin(), solution.islands.end(), is_whole)) return;
  laws_.assign(problem.num_contacts(), {});
  friction_work_.assign(problem.num_contacts(), 0.0);
  row_impulses_.assign(problem.num_rows(), 0.0);
  fn0_.clear();
  for (const Contact& c : problem.contacts) fn0_.push_back(c.fn0);
  for (int island = 0; island < islands.size(); ++island) {
    const int count = solution.islands[island].num_substeps;
    if (count == 1) continue;
    std::span<const double> v_begin = problem.v0;
    for (int s = 0; s < count; ++s) {
      const Substep substep{count, v_begin, solution.velocities(island, s)};
      impulse_.assign(problem.num_dofs(), 0.0);
      add_laws(problem, islands, island, model, parameters, substep);
      judge(problem, islands, island, substep, tolerance, absolute_tolerance);
      v_begin = substep.v;
    }
  }
}

void SubstepCheck::add_laws(const ContactProblem& problem, const Islands& islands, int island,
                            ContactModel model, const ModelParameters& parameters,
                            const Substep& substep) {
  const double h = problem.time_step / substep.count;
  for (const int p : islands.pairs(island)) {
    const BodyPair& pair = problem.pairs[p];
    double V0[6], V[6], F[6] = {0, 0, 0, 0, 0, 0};
    calc_pair_motion(problem, pair, substep.v_begin, V0);
    calc_pair_motion(problem, pair, substep.v, V);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      Contact c = problem.contacts[i];
      c.fn0 = fn0_[i];
      const ContactVector v_c = calc_contact_velocity(c, V);
      const ReferenceImpulse law = calc_reference_impulse(
          model, parameters, c, h, problem.delassus[i], calc_contact_velocity(c, V0)[2], v_c);
      for (int e = 0; e < 6; ++e) laws_[i].gamma[e] += law.gamma[e];
      laws_[i].normal_bound += law.normal_bound;
      friction_work_[i] += calc_friction_work(law.gamma, v_c);
      fn0_[i] -= h * c.law.stiffness * v_c[2];
      add_contact_wrench(c, law.gamma, F);
    }
    add_pair_force(problem, pair, F, impulse_);
  }
  for (const int r : islands.rows(island)) {
    const Row& row = problem.rows[r];
    const double gamma =
        calc_reference_row_impulse(row, calc_row_velocity(problem, row, substep.v)) / substep.count;
    row_impulses_[r] += gamma;
    add_row_force(problem, row, gamma, impulse_);
  }
}

/// A (v - v_begin) - p/n - J^T gamma against the size of its terms.
void SubstepCheck::judge(const ContactProblem& problem, const Islands& islands, int island,
                         const Substep& substep, double tolerance, double absolute_tolerance) {
  // p = A (v* - v0)
  change_.resize(problem.num_dofs());
  for (int i = 0; i < problem.num_dofs(); ++i)
    change_[i] =
        substep.v[i] - substep.v_begin[i] - (problem.v_star[i] - problem.v0[i]) / substep.count;
  residual_.assign(problem.num_dofs(), 0.0);
  add_A_product(problem, change_, residual_);
  momentum_.assign(problem.num_dofs(), 0.0);
  add_A_product(problem, substep.v, momentum_);
  double r2 = 0;
  for (const int b : islands.blocks(island)) {
    for (int dof = problem.dof_start[b]; dof < problem.dof_start[b + 1]; ++dof) {
      const int i = dof - problem.dof_start[b];
      const double D2 = 1 / problem.diagonal(b)[i * (problem.block_size(b) + 1)];
      r2 += D2 * std::pow(residual_[dof] - impulse_[dof], 2);
    }
  }
  const double residual = std::sqrt(r2);
  const contact::ResidualScale scale =
      calc_residual_scale(problem, islands.blocks(island), impulse_, momentum_, substep.count);
  verdict_.require("imbalance of momentum of a sub-step", residual,
                   contact::calc_allowed_residual(absolute_tolerance, tolerance, scale), "sqrt(J)");
  if (residual > absolute_tolerance && scale.impulses > 0)
    relative_residual_ = std::max(relative_residual_, residual / scale.impulses);
}

}  // namespace stiction::certificate
