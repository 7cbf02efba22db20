#include "stiction/certificate/balance_check.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/contact/contact_solution.hpp"

namespace stiction::certificate {

namespace {

/// Calls f(dof, a) for the dofs of some blocks, where a is the dof's diagonal entry of A.
template <class F>
void for_each_dof(const ContactProblem& problem, std::span<const int> blocks, F&& f) {
  for (const int b : blocks) {
    const int n = problem.block_size(b);
    for (int i = 0; i < n; ++i) f(problem.dof_start[b] + i, problem.diagonal(b)[i * (n + 1)]);
  }
}

}  // namespace

void BalanceCheck::calc(const SolvedStep& step, const GeneralizedImpulses& impulses) {
  const ContactProblem& problem = step.problem;
  const std::vector<double>& v = step.solution.v;
  const int num_dofs = problem.num_dofs();
  change_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i) change_[i] = v[i] - problem.v_star[i];
  inertial_.assign(num_dofs, 0.0);
  add_A_product(problem, change_, inertial_);
  momentum_.assign(num_dofs, 0.0);
  add_A_product(problem, v, momentum_);
  residual_.resize(num_dofs);
  imbalance_.resize(num_dofs);
  for (int i = 0; i < num_dofs; ++i) {
    residual_[i] = inertial_[i] - impulses.by_law[i];
    imbalance_[i] = inertial_[i] - impulses.constraint[i] - impulses.spring[i];
  }
}

/// Returns |D r| of the residual over some blocks, D = diag(A)^(-1/2) [sqrt(J)].
double BalanceCheck::calc_norm(const SolvedStep& step, std::span<const int> blocks) const {
  // Both forms are exact but round differently; each family keeps its own, so recordings replay.
  const bool divides = contact::traits(step.model).is_rigid;
  double sum = 0;
  for_each_dof(step.problem, blocks, [&](int dof, double a) {
    const double r = residual_[dof], D2 = 1 / a;
    sum += divides ? r * r / a : D2 * r * r;
  });
  return std::sqrt(sum);
}

void BalanceCheck::judge(const SolvedStep& step, const GeneralizedImpulses& impulses,
                         const RoundOff* rounding, Result* result) const {
  double surfaces2 = 0;
  for (int i = 0; i < step.problem.num_contacts(); ++i)
    surfaces2 = std::max(surfaces2, contact::calc_surface_momentum2(step.problem, i));
  for_each_whole_group(step, [&](std::span<const int> blocks) {
    const contact::ResidualScale scale =
        calc_residual_scale(step.problem, blocks, impulses.by_law, momentum_, 1, surfaces2);
    const double residual = calc_norm(step, blocks);
    const double tolerance =
        contact::calc_allowed_residual(step.absolute_tolerance, step.relative_tolerance, scale);
    const double round_off =
        rounding ? rounding->calc_residual(step.problem, blocks, scale.momentum) : 0;
    result->verdict.require("momentum residual", residual, tolerance + round_off, "sqrt(J)");
    if (!(residual > step.absolute_tolerance && scale.impulses > 0)) return;
    result->relative_residual = std::max(result->relative_residual, residual / scale.impulses);
    result->residual_to_momentum =
        std::max(result->residual_to_momentum, residual / scale.momentum);
    if (residual > tolerance)
      result->round_off =
          std::max(result->round_off, std::min(residual, round_off) / scale.impulses);
  });
}

void Energy::add(const Energy& other) {
  gain += other.gain;
  residual += other.residual;
  kinetic += other.kinetic;
}

Energy calc_energy(const SolvedStep& step, const BalanceCheck& balance) {
  const ContactProblem& problem = step.problem;
  double gain = 0, residual = 0, after = 0;
  for_each_whole_group(step, [&](std::span<const int> blocks) {
    for (const int b : blocks) {
      for (int i = problem.dof_start[b]; i < problem.dof_start[b + 1]; ++i) {
        const double v = step.solution.v[i];
        gain += 0.5 * (v + problem.v_star[i]) * balance.inertial()[i];
        residual += std::abs(v * balance.residual()[i]);
        after += 0.5 * v * balance.momentum()[i];
      }
    }
  });
  return {.gain = gain, .residual = residual, .kinetic = std::max(after, after - gain)};
}

void judge_energy(const Energy& energy, double explained, double rounding, Verdict* verdict) {
  // The gain is a difference of energies, which are sums of rounded terms.
  constexpr double kRounding = 1e-12;
  verdict->require(
      "energy gain", energy.gain,
      explained + energy.residual + rounding + kRounding * (energy.kinetic + explained), "J");
}

double calc_energy_rounding(const SolvedStep& step, const RoundOff& rounding) {
  double sum = 0;
  for (int i = 0; i < step.problem.num_dofs(); ++i)
    sum += (std::abs(step.solution.v[i]) + std::abs(step.problem.v_star[i])) * rounding.terms()[i];
  return rounding.unit() * sum;
}

}  // namespace stiction::certificate
