#include "stiction/certificate/balance_check.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/contact/residual_scale.hpp"

namespace stiction::certificate {

using contact::ResidualScale;

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

BalanceCheck::SquaredNorms BalanceCheck::calc_norms(const SolvedStep& step,
                                                    std::span<const int> blocks,
                                                    std::span<const double> allowance) const {
  // Both forms of D^2 r^2 are exact but round differently. Each family of models keeps its own, so
  // that recordings replay to the last bit.
  const bool divides = contact::traits(step.model).is_rigid;
  SquaredNorms out;
  for (const int b : blocks) {
    const int n = step.problem.block_size(b);
    for (int i = 0; i < n; ++i) {
      const int dof = step.problem.dof_start[b] + i;
      const double a = step.problem.diagonal(b)[i * (n + 1)];
      const double r = residual_[dof], D2 = 1 / a;
      out.residual += divides ? r * r / a : D2 * r * r;
      if (!allowance.empty()) out.allowance += D2 * allowance[dof] * allowance[dof];
    }
  }
  return out;
}

void BalanceCheck::judge(const SolvedStep& step, const GeneralizedImpulses& impulses,
                         std::span<const double> allowance, Result* result) const {
  for_each_whole_group(step, [&](std::span<const int> blocks) {
    const SquaredNorms norms = calc_norms(step, blocks, allowance);
    const ResidualScale scale =
        calc_residual_scale(step.problem, blocks, impulses.by_law, momentum_);
    const double residual = std::sqrt(norms.residual);
    const double allowed =
        contact::calc_allowed_residual(step.absolute_tolerance, step.relative_tolerance, scale);
    // A result whose rounding error is larger than this is not a solution.
    constexpr double kMaxRoundOff = 1e-4;  // relative to the momentum
    const double rounding = std::min(std::sqrt(norms.allowance), kMaxRoundOff * scale.momentum);
    result->verdict.require("momentum residual", residual, allowed + rounding, "sqrt(J)");
    if (!(residual > step.absolute_tolerance && scale.impulses > 0)) return;
    result->relative_residual = std::max(result->relative_residual, residual / scale.impulses);
    result->residual_to_momentum =
        std::max(result->residual_to_momentum, residual / scale.momentum);
    if (residual > allowed)
      result->round_off =
          std::max(result->round_off, std::min(residual, rounding) / scale.impulses);
  });
}

}  // namespace stiction::certificate
