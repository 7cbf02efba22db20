#include "stiction/certificate/energy_check.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::certificate {

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
