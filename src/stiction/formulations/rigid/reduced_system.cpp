#include "stiction/formulations/rigid/reduced_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/factorizations.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations {

using contact::SolveStatus;
using numerics::LcpReport;
using numerics::LcpStatus;

namespace {

/// Returns the largest residual that is within the round-off of N u_hat. If large terms cancel in N
/// u_hat, the LCP contains only their sum, and may require more digits than the terms have.
double calc_accepted_residual(const RigidTerms& terms, const ReducedSystem& system,
                              const LawSolver& solver) {
  // The residual of laws with friction is not one of speeds alone.
  if (terms.law_has_friction() && !solver.is_frictionless) return -1;
  const int n = terms.num_dofs();
  const std::vector<double>& N = system.whitened.rows.N;
  const std::vector<double>& u_hat = system.projected.u_hat;
  double longest = 0;  // squared norm of a row
  for (int i = 0; i < terms.num_unilateral(); ++i) {
    const double* row = N.data() + static_cast<std::size_t>(i) * n;
    longest = std::max(longest, math::dot(n, row, row));
  }
  const double speed = std::sqrt(longest * math::dot(n, u_hat.data(), u_hat.data()));
  if (solver.is_frictionless) return kConstraintTolerance * std::max(1.0, speed);
  const bool has_wide_rank = system.projected.bilateral.rank_tolerance() == kWideRankTolerance;
  return (has_wide_rank ? kAcceptedResidual : kSumRoundOff) * speed;
}

/// Solves a problem as if its contacts had no friction.
LcpReport solve_frictionless(ReducedProblem problem, LawSolver* solver) {
  const std::size_t num_tangents = 2 * problem.mu.size();
  problem.mu = {};
  const LcpReport report = solver->frictionless_law->solve(problem, &solver->solution);
  solver->solution.impulses.tangents.assign(num_tangents, 0.0);
  return report;
}

/// Adds rows^T impulses to y.
void add_rows(const std::vector<double>& rows, const std::vector<double>& impulses,
              std::vector<double>* y) {
  const std::size_t n = y->size();
  STICTION_ASSERT(rows.size() >= n * impulses.size());
  for (std::size_t i = 0; i < impulses.size(); ++i)
    math::add_multiple(static_cast<int>(n), impulses[i], rows.data() + i * n, y->data());
}

/// Sets the impulses of contacts: normals, and tangents of the law or of viscous friction.
void set_contact_impulses(const RigidTerms& terms, const StickingSet& sticking,
                          const RigidImpulses& impulses, RigidMotion* out) {
  const bool is_viscous = terms.tangents == contact::TangentPolicy::kViscous;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    std::array<double, 3>& impulse = out->contact_impulses[i];
    impulse = {0, 0, impulses.unilateral[i]};
    if (!impulses.tangents.empty())
      std::copy_n(impulses.tangents.data() + 2 * i, 2, impulse.data());
    if (!is_viscous || !sticking.contains(i)) continue;
    const math::Vector3& v = out->contact_velocities[terms.contacts[i]];
    for (int t = 0; t < 2; ++t)
      impulse[t] = -terms.problem->time_step * terms.contact(i).law.viscous_friction * v[t];
  }
}

/// Sets the impulses of bilateral constraints: equalities, and tangents of contacts that stick.
void set_bilateral_impulses(const RigidTerms& terms, const ProjectedProblem& projected,
                            RigidMotion* out) {
  const std::span<const int> kept = projected.bilateral.kept();
  const std::span<const double> impulses = projected.bilateral.impulses();
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const int tangent = kept[k] - terms.num_equalities();
    if (tangent < 0) {
      out->row_impulses[terms.equalities[kept[k]]] = impulses[k];
      continue;
    }
    const std::array<double, 2> direction = projected.bilateral.direction(kept[k]);
    std::array<double, 3>& impulse = out->contact_impulses[projected.sticking[tangent / 2]];
    for (int t = 0; t < 2; ++t) impulse[t] += impulses[k] * direction[t];
  }
}

/// Sets the impulses of springs, which are functions of the velocity.
void set_spring_impulses(const RigidTerms& terms, RigidMotion* out) {
  for (const int r : terms.springs) {
    const contact::Row& row = terms.row(r);
    out->row_impulses[r] = (row.target - terms.calc_row_velocity(r, out->v)) / row.regularization;
  }
}

/// Returns the number of equalities among the rows that the basis keeps, which come first.
int count_equalities(const RigidTerms& terms, std::span<const int> kept) {
  int count = 0;
  for (const int row : kept) count += row < terms.num_equalities();
  return count;
}

}  // namespace

LawSolver::LawSolver() : frictionless_law(make_frictionless_law(numerics::LcpSolver::ppm_ratio)) {}

void LawSolver::start(RigidLaw* of_model) {
  law = of_model;
  guess.clear();
  solution.active.clear();
  num_solves = num_pivots = num_lemke = 0;
  is_frictionless = false;
}

LcpReport solve_reduced(const RigidTerms& terms, const FrictionConstants& friction,
                        std::span<const double> y, ReducedSystem* system, LawSolver* solver) {
  STICTION_ASSERT(solver->law != nullptr);
  STICTION_ASSERT(static_cast<int>(y.size()) == terms.num_dofs());
  start_from(y, &system->projected);
  ReducedProblem problem = make_reduced_problem(terms, friction, system->projected);
  problem.guess = solver->guess;
  problem.accepted_residual = calc_accepted_residual(terms, *system, *solver);
  LcpReport report = solver->is_frictionless ? solve_frictionless(problem, solver)
                                             : solver->law->solve(problem, &solver->solution);
  if (!report.is_solved() && report.status != LcpStatus::kNotFinite &&
      report.residual <= problem.accepted_residual)
    report.status = LcpStatus::kSolved;
  solver->guess = solver->solution.active;
  solver->num_pivots += report.pivots;
  solver->num_lemke += report.is_by_lemke;
  ++solver->num_solves;
  return report;
}

SolveStatus to_solve_status(LcpStatus status) {
  switch (status) {
    case LcpStatus::kSolved: return SolveStatus::kConverged;
    case LcpStatus::kInfeasible: return SolveStatus::kInfeasible;
    case LcpStatus::kTooLarge: return SolveStatus::kTooLarge;
    case LcpStatus::kMaxPivots:
    case LcpStatus::kNotSolved: return SolveStatus::kMaxIterations;
    case LcpStatus::kNotSymmetric:
    case LcpStatus::kIndefinite: return SolveStatus::kNotPositiveDefinite;
    case LcpStatus::kNotFinite: return SolveStatus::kNotFinite;
  }
  return SolveStatus::kNotFinite;
}

void expand_solution(const RigidTerms& terms, const RigidIterate& iterate,
                     const RigidImpulses& impulses, ReducedSystem* system, RigidMotion* out) {
  STICTION_ASSERT(static_cast<int>(impulses.unilateral.size()) == terms.num_unilateral());
  STICTION_ASSERT(impulses.dry.size() == terms.dry_joints.size());
  const WhitenedProblem& whitened = system->whitened;

  // Velocities.
  out->y = whitened.y_free;
  add_rows(whitened.rows.N, impulses.unilateral, &out->y);
  add_rows(whitened.rows.T, impulses.tangents, &out->y);
  add_rows(whitened.rows.F, impulses.dry, &out->y);
  system->projected.bilateral.satisfy(out->y.data());
  out->v = out->y;
  whitened.whitening.to_v(out->v.data());
  calc_contact_velocities(terms, out);

  // Impulses.
  out->contact_impulses.resize(terms.num_contacts());
  set_contact_impulses(terms, iterate.sticking, impulses, out);
  out->row_impulses.assign(terms.island.num_rows(), 0.0);
  for (int i = 0; i < terms.num_limits(); ++i)
    out->row_impulses[terms.limits[i]] = impulses.unilateral[terms.num_contacts() + i];
  for (std::size_t i = 0; i < terms.dry_joints.size(); ++i)
    out->row_impulses[terms.dry_joints[i]] = impulses.dry[i];
  set_bilateral_impulses(terms, system->projected, out);
  set_spring_impulses(terms, out);
}

void calc_contact_velocities(const RigidTerms& terms, RigidMotion* out) {
  out->contact_velocities.resize(terms.island.num_contacts());
  for (int i = 0; i < terms.island.num_contacts(); ++i) {
    const auto& bias = terms.problem->contacts[terms.island.contacts()[i]].bias;
    math::Vector3& v = out->contact_velocities[i];
    v = terms.island.contact_jacobian(i).multiply(out->v);
    for (int r = 0; r < 3; ++r) v[r] += bias[r];
  }
}

bool ImpulseSpreading::calc(const RigidTerms& terms, const WhitenedProblem& whitened,
                            const ProjectedProblem& problem, const RigidMotion& motion, double slip,
                            std::vector<double>* tangents) {
  const BilateralConstraints& bilateral = problem.bilateral;
  const std::span<const int> kept = bilateral.kept();
  const int num_equalities = count_equalities(terms, kept);
  const int rank = static_cast<int>(kept.size()) - num_equalities;
  choose_rows(terms, problem, motion, slip);
  if (rank == 0 || rank >= static_cast<int>(rows_.size())) return false;

  // C = T Q^T. The rows of Q are orthogonal to those of the equalities.
  const int n = terms.num_dofs();
  const double* const Q =
      bilateral.basis().basis().data() + static_cast<std::size_t>(num_equalities) * n;
  base::resize_within_limits(rows_.size() * rank, &C_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    base::check_limits();
    const double* row = whitened.rows.T.data() + static_cast<std::size_t>(rows_[i]) * n;
    math::multiply_rows(rank, n, Q, row, nullptr, C_.data() + i * rank);
  }
  if (!solve_gram(rank, bilateral.impulses_along_basis().data() + num_equalities)) return false;

  tangents->assign(static_cast<std::size_t>(2) * terms.num_contacts(), 0.0);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    (*tangents)[rows_[i]] = math::dot(rank, C_.data() + i * rank, x_.data());
  for (const int row : kept) {
    const int i = row - terms.num_equalities();
    if (i < 0) continue;
    const std::array<double, 2> direction = bilateral.direction(row);
    double* impulse = tangents->data() + 2 * problem.sticking[i / 2];
    const double along = direction[0] * impulse[0] + direction[1] * impulse[1];
    for (int t = 0; t < 2; ++t) impulse[t] -= along * direction[t];
  }
  return true;
}

/// Chooses the tangents of the sticking contacts that do not slip.
void ImpulseSpreading::choose_rows(const RigidTerms& terms, const ProjectedProblem& problem,
                                   const RigidMotion& motion, double slip) {
  rows_.clear();
  for (const int contact : problem.sticking) {
    if (motion.contact_velocities[terms.contacts[contact]].head<2>().norm() > slip) continue;
    rows_.push_back(2 * contact);
    rows_.push_back(2 * contact + 1);
  }
}

/// Solves C^T C x = g.
/// @param g size rank
/// @return false if C^T C is singular
bool ImpulseSpreading::solve_gram(int rank, const double* g) {
  base::fill_zeros_within_limits(static_cast<std::size_t>(rank) * rank, &gram_);
  for (std::size_t begin = 0; begin < C_.size(); begin += rank) {
    base::check_limits();
    for (int i = 0; i < rank; ++i)
      math::add_multiple(rank, C_[begin + i], C_.data() + begin,
                         gram_.data() + static_cast<std::size_t>(i) * rank);
  }
  x_.assign(g, g + rank);
  return numerics::solve_in_place(rank, gram_.data(), 1, x_.data()) < 0 &&
         std::all_of(x_.begin(), x_.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace stiction::formulations
