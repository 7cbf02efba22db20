#include "stiction/contact/contact_solution.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::contact {

ResidualScale calc_residual_scale(const ContactProblem& problem, std::span<const int> blocks,
                                  std::span<const double> impulse, std::span<const double> momentum,
                                  int num_substeps, double surfaces2) {
  STICTION_ASSERT(num_substeps >= 1);
  STICTION_ASSERT(impulse.size() == problem.v0.size() && momentum.size() == problem.v0.size());
  double p2 = 0, contact2 = 0, momentum2 = 0;
  for (const int b : blocks) {
    const int n = problem.block_size(b);
    for (int i = 0; i < n; ++i) {
      const int dof = problem.dof_start[b] + i;
      const double D2 = 1 / problem.diagonal(b)[i * (n + 1)];
      const double p = problem.free_impulse[dof] / num_substeps;
      p2 += D2 * p * p;
      contact2 += D2 * impulse[dof] * impulse[dof];
      momentum2 += D2 * momentum[dof] * momentum[dof];
    }
  }
  const double acting = std::sqrt(std::max(p2, contact2));
  return {.impulses = std::max(acting, kResolvedMomentum * std::sqrt(momentum2 + surfaces2)),
          .momentum = std::max(acting, std::sqrt(momentum2 + surfaces2))};
}

}  // namespace stiction::contact
