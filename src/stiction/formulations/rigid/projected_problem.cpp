#include "stiction/formulations/rigid/projected_problem.hpp"

#include <cstddef>

#include "stiction/base/assert.hpp"

namespace stiction::formulations {

int project(const RigidTerms& terms, const WhitenedRows& rows, const StickingSet& sticking,
            double rank_tolerance, ProjectedProblem* out) {
  const auto n = static_cast<std::size_t>(terms.num_dofs());
  STICTION_ASSERT(rows.N.size() == n * rows.b_n.size());
  STICTION_ASSERT(rows.E.size() == n * rows.b_e.size());

  // Equalities are kept before tangents.
  BilateralConstraints& bilateral = out->bilateral;
  bilateral.start(terms.num_dofs());
  bilateral.add(rows.E, rows.b_e);
  const int num_equalities = bilateral.num_rows();
  out->sticking.clear();
  if (terms.tangents == contact::TangentPolicy::kBilateral) {
    for (int i = 0; i < terms.num_contacts(); ++i) {
      if (!sticking.contains(i)) continue;
      out->sticking.push_back(i);
      bilateral.add(std::span(rows.T).subspan(2 * i * n, 2 * n),
                    std::span(rows.b_t).subspan(2 * static_cast<std::size_t>(i), 2));
    }
  }
  bilateral.eliminate(num_equalities, rank_tolerance);

  const int forced = bilateral.project_rows(rows.N, rows.b_n, &out->N, &out->b_n);
  if (terms.law_has_friction()) bilateral.project_rows(rows.T, rows.b_t, &out->T, &out->b_t);
  bilateral.project_rows(rows.F, rows.b_f, &out->F, &out->b_f);
  return forced;
}

void start_from(std::span<const double> y, ProjectedProblem* problem) {
  problem->u_hat.assign(y.begin(), y.end());
  problem->bilateral.satisfy(problem->u_hat.data());
}

ReducedProblem make_reduced_problem(const RigidTerms& terms, const FrictionConstants& friction,
                                    const ProjectedProblem& projected) {
  STICTION_ASSERT(friction.mu.size() == terms.friction.mu.size());
  STICTION_ASSERT(friction.dry_bounds.size() == terms.friction.dry_bounds.size());
  STICTION_ASSERT(static_cast<int>(projected.b_n.size()) == terms.num_unilateral());
  return {.num_columns = terms.num_dofs(),
          .num_contacts = terms.num_contacts(),
          .num_unilateral = terms.num_unilateral(),
          .N = projected.N,
          .b_n = projected.b_n,
          .T = projected.T,
          .b_t = projected.b_t,
          .F = projected.F,
          .b_f = projected.b_f,
          .dry_bounds = friction.dry_bounds,
          .mu = friction.mu,
          .nu = friction.nu,
          .slip0 = friction.slip0,
          .u_hat = projected.u_hat,
          .guess = {}};
}

}  // namespace stiction::formulations
