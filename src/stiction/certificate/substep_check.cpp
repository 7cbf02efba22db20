#include "stiction/certificate/substep_check.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {

void SubstepCheck::calc(const SolvedStep& step) {
  balances_.clear();
  relative_residual_ = 0;
  energy_ = {};
  gain_ = 0;
  const ContactProblem& problem = step.problem;
  const std::vector<contact::IslandStatistics>& islands = step.solution.islands;
  const auto is_whole = [](const contact::IslandStatistics& island) {
    return island.num_substeps == 1;
  };
  if (std::all_of(islands.begin(), islands.end(), is_whole)) return;

  laws_.assign(problem.num_contacts(), {});
  friction_work_.assign(problem.num_contacts(), 0.0);
  row_impulses_.assign(problem.num_rows(), 0.0);
  fn0_.clear();
  for (const contact::Contact& c : problem.contacts) fn0_.push_back(c.fn0);
  for (int island = 0; island < step.islands.size(); ++island) {
    const int count = islands[island].num_substeps;
    if (count == 1) continue;
    std::span<const double> v_begin = problem.v0;
    for (int s = 0; s < count; ++s) {
      const Substep substep = {.island = island,
                               .count = count,
                               .v_begin = v_begin,
                               .v = step.solution.velocities(island, s)};
      add_laws(step, substep);
      calc_momenta(problem, substep);
      add_balance(step, substep);
      add_energy(step, substep);
      v_begin = substep.v;
    }
  }
}

/// Evaluates the laws of the island's contacts and rows, and adds their impulses to the sums.
void SubstepCheck::add_laws(const SolvedStep& step, const Substep& substep) {
  const ContactProblem& problem = step.problem;
  impulse_.assign(problem.num_dofs(), 0.0);
  for (const int p : step.islands.pairs(substep.island))
    add_pair_laws(step, substep, problem.pairs[p]);
  for (const int r : step.islands.rows(substep.island)) {
    const contact::Row& row = problem.rows[r];
    const double v_r = calc_row_velocity(problem, row, substep.v);
    const double gamma = calc_reference_row_impulse(row, v_r) / substep.count;
    row_impulses_[r] += gamma;
    gain_ += calc_row_gain(row, gamma, v_r);
    add_row_force(problem, row, gamma, impulse_);
  }
}

void SubstepCheck::add_pair_laws(const SolvedStep& step, const Substep& substep,
                                 const contact::BodyPair& pair) {
  const ContactProblem& problem = step.problem;
  const double h = problem.time_step / substep.count;
  double V0[6], V[6], F[6] = {};
  calc_pair_motion(problem, pair, substep.v_begin, V0);
  calc_pair_motion(problem, pair, substep.v, V);
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
    contact::Contact c = problem.contacts[i];
    c.fn0 = fn0_[i];
    const ContactVector v_c = calc_contact_velocity(c, V);
    const ContactState state = {
        .time_step = h, .w = problem.delassus[i], .v_n0 = calc_contact_velocity(c, V0)[2]};
    const ReferenceImpulse law = calc_reference_impulse(step.model, step.parameters, c, state, v_c);
    for (int e = 0; e < 6; ++e) laws_[i].gamma[e] += law.gamma[e];
    laws_[i].normal_bound += law.normal_bound;
    friction_work_[i] += calc_friction_work(law.gamma, v_c);
    gain_ += calc_gain(c, law.gamma, v_c);
    fn0_[i] -= h * c.law.stiffness * v_c[2];
    add_contact_wrench(c, law.gamma, F);
  }
  add_pair_force(problem, pair, F, impulse_);
}

/// Computes A v, and the part A (v - v_begin) - p/n of the residual, p = A (v* - v0).
void SubstepCheck::calc_momenta(const ContactProblem& problem, const Substep& substep) {
  const int num_dofs = problem.num_dofs();
  change_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i)
    change_[i] =
        substep.v[i] - substep.v_begin[i] - (problem.v_star[i] - problem.v0[i]) / substep.count;
  residual_.assign(num_dofs, 0.0);
  add_A_product(problem, change_, residual_);
  momentum_.assign(num_dofs, 0.0);
  add_A_product(problem, substep.v, momentum_);
}

/// Compares the residual A (v - v_begin) - p/n - J^T gamma with the size of its terms.
void SubstepCheck::add_balance(const SolvedStep& step, const Substep& substep) {
  const ContactProblem& problem = step.problem;
  const std::span<const int> blocks = step.islands.blocks(substep.island);
  double r2 = 0;
  for (const int b : blocks) {
    for (int dof = problem.dof_start[b]; dof < problem.dof_start[b + 1]; ++dof) {
      const int i = dof - problem.dof_start[b];
      const double D2 = 1 / problem.diagonal(b)[i * (problem.block_size(b) + 1)];
      r2 += D2 * math::square(residual_[dof] - impulse_[dof]);
    }
  }
  const double residual = std::sqrt(r2);
  const contact::ResidualScale scale =
      calc_residual_scale(problem, blocks, impulse_, momentum_, substep.count);
  balances_.push_back({.island = substep.island,
                       .residual = residual,
                       .allowed = contact::calc_allowed_residual(step.absolute_tolerance,
                                                                 step.relative_tolerance, scale),
                       .momentum = scale.momentum});
  if (residual > step.absolute_tolerance && scale.impulses > 0)
    relative_residual_ = std::max(relative_residual_, residual / scale.impulses);
}

Verdict SubstepCheck::judge(const SolvedStep& step, const RoundOff* rounding) const {
  Verdict verdict;
  for (const Balance& b : balances_) {
    const double round_off =
        rounding ? rounding->calc_residual(step.problem, step.islands.blocks(b.island), b.momentum)
                 : 0;
    verdict.require("momentum residual of a sub-step", b.residual, b.allowed + round_off,
                    "sqrt(J)");
  }
  return verdict;
}

/// Adds the energy that the island's contacts and rows add in the sub-step.
void SubstepCheck::add_energy(const SolvedStep& step, const Substep& substep) {
  const ContactProblem& problem = step.problem;
  double gain = 0, residual = 0, after = 0;
  for (const int b : step.islands.blocks(substep.island)) {
    for (int i = problem.dof_start[b]; i < problem.dof_start[b + 1]; ++i) {
      gain += (substep.v[i] - 0.5 * change_[i]) * residual_[i];
      residual += std::abs(substep.v[i] * (residual_[i] - impulse_[i]));
      after += 0.5 * substep.v[i] * momentum_[i];
    }
  }
  energy_.add({.gain = gain, .residual = residual, .kinetic = std::max(after, after - gain)});
}

}  // namespace stiction::certificate
