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

/// Lists the contacts that stick by bilateral constraints, first those that touch.
/// @return how many touch
int list_sticking(const RigidTerms& terms, const StickingSet& sticking, std::vector<int>* out) {
  out->clear();
  int num_touching = 0;
  if (terms.tangents != contact::TangentPolicy::kBilateral) return num_touching;
  for (const bool touching : {true, false}) {
    for (int i = 0; i < terms.num_contacts(); ++i)
      if (sticking.contains(i) && contact::is_touching(terms.contact(i)) == touching)
        out->push_back(i);
    if (touching) num_touching = static_cast<int>(out->size());
  }
  return num_touching;
}

/// Eliminates the bilateral constraints of new rows and projects all other rows.
void project_rows(const RigidTerms& terms, const WhitenedProblem& whitened, int num_touching,
                  double rank_tolerance, const NormalFilter* normals, ProjectedProblem* out) {
  const WhitenedRows& rows = whitened.rows;
  const auto n = static_cast<std::size_t>(terms.num_dofs());
  const int num_sticking = static_cast<int>(out->sticking.size());
  const int num_equalities = static_cast<int>(rows.b_e.size());
  // Equalities are kept before tangents, and touching contacts before those with a gap.
  BilateralConstraints& bilateral = out->bilateral;
  bilateral.start(terms.num_dofs(), num_equalities + 2 * num_sticking);
  bilateral.add(rows.E, rows.b_e);
  for (const int i : out->sticking)
    bilateral.add(std::span(rows.T).subspan(2 * i * n, 2 * n),
                  std::span(rows.b_t).subspan(2 * static_cast<std::size_t>(i), 2));
  const int group_ends[] = {num_equalities, num_equalities + 2 * num_touching,
                            bilateral.num_rows()};
  const TangentFilter tangents(whitened.levers, *out, num_equalities);
  bilateral.eliminate(group_ends, rank_tolerance, &tangents, num_sticking);
  bilateral.project_rows(rows.N, normals, &out->N);
  if (terms.law_has_friction()) bilateral.project_rows(rows.T, nullptr, &out->T);
  bilateral.project_rows(rows.F, nullptr, &out->F);
}

}  // namespace

int project(const RigidTerms& terms, const WhitenedProblem& whitened, const StickingSet& sticking,
            double rank_tolerance, ProjectedProblem* out) {
  const WhitenedRows& rows = whitened.rows;
  STICTION_ASSERT(rows.N.size() == rows.b_n.size() * terms.num_dofs());
  STICTION_ASSERT(rows.E.size() == rows.b_e.size() * terms.num_dofs());
  // The laws with friction of contacts handle short rows themselves.
  const NormalFilter short_normals(whitened.levers, terms.num_contacts());
  const NormalFilter* const normals = terms.law_has_friction() ? nullptr : &short_normals;

  // The elimination takes most of the time. It is repeated only if its rows change.
  BilateralConstraints& bilateral = out->bilateral;
  std::vector<int>& last = out->last_sticking;
  last = out->sticking;  // a copy, so that each keeps its memory
  const int num_touching = list_sticking(terms, sticking, &out->sticking);
  if (out->version != whitened.version || bilateral.rank_tolerance() != rank_tolerance ||
      out->sticking != last) {
    find_reach(terms, sticking, &out->reach);
    project_rows(terms, whitened, num_touching, rank_tolerance, normals, out);
    out->version = whitened.version;
  } else {
    out->b_sticking.clear();
    for (const int i : out->sticking)
      out->b_sticking.insert(out->b_sticking.end(), {rows.b_t[2 * i], rows.b_t[2 * i + 1]});
    bilateral.set_constants(rows.b_e, out->b_sticking);
  }

  bilateral.project_constants(rows.N, rows.b_n, &out->b_n);
  if (terms.law_has_friction()) bilateral.project_constants(rows.T, rows.b_t, &out->b_t);
  bilateral.project_constants(rows.F, rows.b_f, &out->b_f);
  return bilateral.open_dependent_rows(rows.N, out->N, normals, &out->b_n);
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
          .guess = {},
          .accepted_residual = 0};
}

}  // namespace stiction::formulations
