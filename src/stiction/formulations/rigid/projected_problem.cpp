#include "stiction/formulations/rigid/projected_problem.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/contact/rigid_touch.hpp"

namespace stiction::formulations {

namespace {

/// Calls tangents of sticking contacts dependent if only a short lever is left of them. The rows
/// are those of the bilateral constraints.
class TangentFilter final : public numerics::RowFilter {
 public:
  TangentFilter(const ContactLevers& levers, const ProjectedProblem& problem, int num_equalities)
      : levers_(levers), problem_(problem), num_equalities_(num_equalities) {}
  bool is_dependent(int row, double squared, std::span<const double> remainder,
                    const numerics::RowBasis& basis) const override {
    const int tangent = row - num_equalities_;
    if (tangent < 0) return false;
    const int contact = problem_.sticking[tangent / 2];
    return levers_.is_short(contact, problem_.reach[contact], squared, remainder, basis);
  }

 private:
  const ContactLevers& levers_;
  const ProjectedProblem& problem_;
  int num_equalities_;
};

/// The same for the normals of contacts, which are the first unilateral rows.
class NormalFilter final : public numerics::RowFilter {
 public:
  NormalFilter(const ContactLevers& levers, int num_contacts)
      : levers_(levers), num_contacts_(num_contacts) {}
  bool is_dependent(int row, double squared, std::span<const double> remainder,
                    const numerics::RowBasis& basis) const override {
    return row < num_contacts_ &&
           levers_.is_short(row, contact::kTouchDistance, squared, remainder, basis);
  }

 private:
  const ContactLevers& levers_;
  int num_contacts_;
};

/// Finds how far contact points are known: to the touch distance, or for a contact that closes
/// within the step to the largest gap of such contacts of its pair that stick.
void find_reach(const RigidTerms& terms, const StickingSet& sticking, std::vector<double>* reach) {
  reach->assign(terms.num_contacts(), contact::kTouchDistance);
  for (int first = 0, end = 0; first < terms.num_contacts(); first = end) {
    double gap = contact::kTouchDistance;
    for (end = first; end < terms.num_contacts() && terms.pairs[end] == terms.pairs[first]; ++end)
      if (sticking.contains(end)) gap = std::max(gap, terms.contact(end).phi0);
    for (int i = first; i < end; ++i)
      if (!contact::is_touching(terms.contact(i))) (*reach)[i] = gap;
  }
}

/// Adds the tangents of the sticking contacts that touch, or of those that close within the step.
void add_tangents(const RigidTerms& terms, const WhitenedRows& rows, const StickingSet& sticking,
                  bool touching, ProjectedProblem* out) {
  const auto n = static_cast<std::size_t>(terms.num_dofs());
  for (int i = 0; i < terms.num_contacts(); ++i) {
    if (!sticking.contains(i) || contact::is_touching(terms.contact(i)) != touching) continue;
    out->sticking.push_back(i);
    out->bilateral.add(std::span(rows.T).subspan(2 * i * n, 2 * n),
                       std::span(rows.b_t).subspan(2 * static_cast<std::size_t>(i), 2));
  }
}

}  // namespace

int project(const RigidTerms& terms, const WhitenedProblem& whitened, const StickingSet& sticking,
            double rank_tolerance, ProjectedProblem* out) {
  const WhitenedRows& rows = whitened.rows;
  const auto n = static_cast<std::size_t>(terms.num_dofs());
  STICTION_ASSERT(rows.N.size() == n * rows.b_n.size());
  STICTION_ASSERT(rows.E.size() == n * rows.b_e.size());

  // Equalities are kept before tangents, and touching contacts before those with a gap.
  BilateralConstraints& bilateral = out->bilateral;
  const bool sticks = terms.tangents == contact::TangentPolicy::kBilateral;
  bilateral.start(terms.num_dofs(),
                  terms.num_equalities() + (sticks ? 2 * terms.num_contacts() : 0));
  bilateral.add(rows.E, rows.b_e);
  const int num_equalities = bilateral.num_rows();
  out->sticking.clear();
  if (sticks) add_tangents(terms, rows, sticking, true, out);
  const int num_touching = bilateral.num_rows();
  if (sticks) add_tangents(terms, rows, sticking, false, out);
  const int group_ends[] = {num_equalities, num_touching, bilateral.num_rows()};
  find_reach(terms, sticking, &out->reach);
  const TangentFilter tangents(whitened.levers, *out, num_equalities);
  bilateral.eliminate(group_ends, rank_tolerance, &tangents,
                      static_cast<int>(out->sticking.size()));

  // The laws with friction of contacts handle short rows themselves.
  const NormalFilter normals(whitened.levers, terms.num_contacts());
  const int forced = bilateral.project_unilateral_rows(
      rows.N, rows.b_n, terms.law_has_friction() ? nullptr : &normals, &out->N, &out->b_n);
  if (terms.law_has_friction())
    bilateral.project_rows(rows.T, rows.b_t, nullptr, &out->T, &out->b_t);
  bilateral.project_rows(rows.F, rows.b_f, nullptr, &out->F, &out->b_f);
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
          .dry_compliance = friction.dry_compliance,
          .mu = friction.mu,
          .nu = friction.nu,
          .slip0 = friction.slip0,
          .u_hat = projected.u_hat,
          .guess = {}};
}

}  // namespace stiction::formulations
