#include "stiction/formulations/rigid/projected_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using math::dot;

void BilateralConstraints::start(int num_columns, int max_rows) {
  STICTION_ASSERT(num_columns >= 0);
  num_columns_ = num_columns;
  X_.clear();
  X_.reserve(static_cast<std::size_t>(max_rows) * num_columns);
  b_.clear();
}

void BilateralConstraints::add(std::span<const double> rows, std::span<const double> b) {
  STICTION_ASSERT(rows.size() == b.size() * num_columns_);
  X_.insert(X_.end(), rows.begin(), rows.end());
  b_.insert(b_.end(), b.begin(), b.end());
}

void BilateralConstraints::eliminate(std::span<const int> group_ends, double rank_tolerance,
                                     const numerics::RowFilter* filter, int num_pairs,
                                     std::span<const int> last_pairs) {
  STICTION_ASSERT(!group_ends.empty() && group_ends.back() == num_rows());
  rank_tolerance_ = rank_tolerance;
  first_pair_ = num_rows() - 2 * num_pairs;
  basis_.find_with_free_axes(X_.data(), num_columns_, first_pair_, group_ends, rank_tolerance,
                             filter, last_pairs);
  solve_constants();
}

void BilateralConstraints::set_constants(std::span<const double> first,
                                         std::span<const double> others) {
  STICTION_ASSERT(static_cast<int>(first.size() + others.size()) == num_rows());
  b_.assign(first.begin(), first.end());
  b_.insert(b_.end(), others.begin(), others.end());
  solve_constants();
}

/// Turns the constants of pairs, and solves L s = -b_s.
void BilateralConstraints::solve_constants() {
  for (int row = first_pair_; row < num_rows(); row += 2) {
    const auto [cos, sin] = basis_.turns()[(row - first_pair_) / 2];
    const double x = b_[row], y = b_[row + 1];
    b_[row] = cos * x + sin * y;
    b_[row + 1] = cos * y - sin * x;
  }
  const int rank = basis_.rank();
  const double* L = basis_.factor().data();
  s_.resize(rank);
  y_s_.assign(num_columns_, 0.0);
  for (int i = 0; i < rank; ++i) {
    const double* L_i = L + i * rank;
    s_[i] = (-b_[kept()[i]] - dot(i, L_i, s_.data())) / L_i[i];
    math::add_multiple(num_columns_, s_[i],
                       basis_.basis().data() + static_cast<std::size_t>(i) * num_columns_,
                       y_s_.data());
  }
}

std::array<double, 2> BilateralConstraints::direction(int row) const {
  STICTION_ASSERT(first_pair_ <= row && row < num_rows());
  const auto [cos, sin] = basis_.turns()[(row - first_pair_) / 2];
  if ((row - first_pair_) % 2 == 0) return {cos, sin};
  return {-sin, cos};
}

void BilateralConstraints::project_rows(const std::vector<double>& rows,
                                        const numerics::RowFilter* filter,
                                        std::vector<double>* projected) {
  const int rank = basis_.rank();
  if (rank == num_columns_) {  // every row depends on constraints that leave no freedom
    projected->assign(rows.size(), 0.0);
    return;
  }
  *projected = rows;
  if (rank == 0 && !filter) return;
  squared_.resize(rows.size() / num_columns_);
  basis_.project_out(projected->data(), &along_, squared_);
  for (std::size_t i = 0; i * num_columns_ < rows.size(); ++i) {
    const double* row = rows.data() + i * num_columns_;
    double* left = projected->data() + i * num_columns_;
    const double before = dot(num_columns_, row, row);
    const std::span<const double> remainder(left, num_columns_);
    const bool is_dependent =
        squared_[i] <= rank_tolerance_ * before ||
        (filter && filter->is_dependent(static_cast<int>(i), before, remainder, basis_));
    if (is_dependent) std::fill_n(left, num_columns_, 0.0);
  }
}

void BilateralConstraints::project_constants(const std::vector<double>& rows,
                                             const std::vector<double>& b,
                                             std::vector<double>* b_projected) const {
  STICTION_ASSERT(rows.size() == b.size() * num_columns_);
  *b_projected = b;
  if (basis_.rank() == 0) return;
  for (std::size_t i = 0; i < b.size(); ++i)
    (*b_projected)[i] += dot(num_columns_, rows.data() + i * num_columns_, y_s_.data());
}

int BilateralConstraints::open_dependent_rows(const std::vector<double>& rows,
                                              const std::vector<double>& projected,
                                              const numerics::RowFilter* filter,
                                              std::vector<double>* b_projected) const {
  int forced = -1;
  for (std::size_t i = 0; i < b_projected->size(); ++i) {
    const double* left = projected.data() + i * num_columns_;
    if (dot(num_columns_, left, left) > 0) continue;
    // Nothing moves a row that depends on no rows at all, so it does not conflict with constraints.
    const std::span<const double> row(rows.data() + i * num_columns_, num_columns_);
    const double squared = dot(num_columns_, row.data(), row.data());
    const bool is_moved =
        squared > 0 && !(filter && filter->is_dependent(static_cast<int>(i), squared, row, {}));
    if (is_moved && (*b_projected)[i] < -kMissedVelocity) forced = static_cast<int>(i);
    (*b_projected)[i] = std::max(0.0, (*b_projected)[i]);
  }
  return forced;
}

std::span<const double> BilateralConstraints::satisfy(double* y) {
  const int rank = basis_.rank();
  const double* Q = basis_.basis().data();
  impulses_.assign(rank, 0.0);
  // y += Q^T (s - Q y). The second pass removes the round-off of the first.
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < rank; ++k) {
      const double* q = Q + static_cast<std::size_t>(k) * num_columns_;
      const double step = s_[k] - dot(num_columns_, q, y);
      impulses_[k] += step;
      math::add_multiple(num_columns_, step, q, y);
    }
  along_basis_ = impulses_;
  // From impulses along Q to those along X_s: X_s^T f = Q^T L^T f.
  const double* L = basis_.factor().data();
  for (int i = rank - 1; i >= 0; --i) {
    impulses_[i] /= L[i * rank + i];
    for (int k = 0; k < i; ++k) impulses_[k] -= L[i * rank + k] * impulses_[i];
  }
  return impulses_;
}

double BilateralConstraints::calc_largest_impulse() const {
  const int rank = basis_.rank();
  STICTION_ASSERT(static_cast<int>(impulses_.size()) == rank);
  double largest = 0;
  for (int i = 0; i < rank; ++i) {
    const double* L_i = basis_.factor().data() + i * rank;
    const double norm =
        std::sqrt(dot(i + 1, L_i, L_i));  // |X_i|, because rows of Q are orthonormal
    largest = std::max(largest, norm * std::abs(impulses_[i]));
  }
  return largest;
}

namespace {

/// Calls tangents of sticking contacts dependent if only a short lever is left of them.
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

/// Finds how far contact points are known: the touch distance, or the gaps that close.
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

/// Finds the places in the last projection of the contacts that stick. Those with a gap count as
/// new: their rows come behind all that touch, and their reach depends on the sticking set.
void find_last_places(int num_touching, int num_contacts, ProjectedProblem* out) {
  std::vector<int>& place_of_contact = out->place_of_contact;
  place_of_contact.assign(num_contacts, -1);
  for (std::size_t i = 0; i < out->last_sticking.size(); ++i)
    place_of_contact[out->last_sticking[i]] = static_cast<int>(i);
  out->last_places.assign(out->sticking.size(), -1);
  for (int i = 0; i < num_touching; ++i) out->last_places[i] = place_of_contact[out->sticking[i]];
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
  bilateral.eliminate(group_ends, rank_tolerance, &tangents, num_sticking, out->last_places);
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
    out->last_places.clear();
    if (out->version == whitened.version && bilateral.rank_tolerance() == rank_tolerance)
      find_last_places(num_touching, terms.num_contacts(), out);
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
