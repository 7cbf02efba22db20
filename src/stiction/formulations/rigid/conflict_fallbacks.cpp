#include "stiction/formulations/rigid/conflict_fallbacks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/constraint_check.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using numerics::LcpReport;

void ConflictFallbacks::start(RigidLaw* law) {
  law_solver_.start(law);
  level_ = Level::kAllCorrections;
  conflict_ = {};
  share_ = 1;
  num_slowdowns_ = 0;
}

LcpReport ConflictFallbacks::solve(const RigidTerms& terms, std::span<const double> y,
                                   RigidIterate* iterate, ReducedSystem* system) {
  for (;;) {
    base::check_limits();
    const int forced =
        project(terms, system->whitened, iterate->sticking, rank_tolerance(), &system->projected);
    if (forced >= 0 && has_corrections() && relax(forced, terms, iterate, system)) continue;
    if (forced >= 0) note_conflict(forced, terms);
    const LcpReport report = solve_reduced(terms, terms.friction, y, system, &law_solver_);
    if (level_ == Level::kFrictionless)
      return report.is_solved() && !has_active_friction(terms) ? report : failed_;
    const bool is_final = report.is_solved() || report.status == numerics::LcpStatus::kNotFinite ||
                          report.status == numerics::LcpStatus::kTooLarge;
    if (is_final) return report;
    if (!relax(report.row, terms, iterate, system) && !drop_friction(report, terms)) return report;
  }
}

bool ConflictFallbacks::drop_friction(const LcpReport& failed, const RigidTerms& terms) {
  if (level_ != Level::kWideRank || terms.num_unilateral() > kMaxFrictionlessSize) return false;
  level_ = Level::kFrictionless;
  law_solver_.is_frictionless = true;
  law_solver_.guess.clear();
  failed_ = failed;
  return true;
}

/// Returns true if a contact with friction has an impulse in the last solve.
bool ConflictFallbacks::has_active_friction(const RigidTerms& terms) const {
  if (!terms.law_has_friction()) return false;
  const FrictionConstants& friction = terms.friction;
  const std::vector<double>& impulses = law_solver_.solution.impulses.unilateral;
  for (int i = 0; i < terms.num_contacts(); ++i)
    if (impulses[i] > 0 && (friction.mu[i] > 0 || friction.nu[i] > 0)) return true;
  return false;
}

bool ConflictFallbacks::relax(int row, const RigidTerms& terms, RigidIterate* iterate,
                              ReducedSystem* system) {
  GapTerms& gaps = iterate->gaps;
  law_solver_.guess.clear();
  switch (level_) {
    case Level::kAllCorrections:
      note_conflict(row, terms);
      level_ = Level::kEqualities;
      if (drop_overlap_corrections(&gaps) && terms.num_equalities() > 0) break;
      [[fallthrough]];
    case Level::kEqualities:
      level_ = Level::kRelaxedEqualities;
      if (relax_equalities(terms, *iterate, *system)) {
        gaps.equalities.swap(relaxed_);
        break;
      }
      [[fallthrough]];
    case Level::kRelaxedEqualities:
      level_ = Level::kNoCorrections;
      std::fill(gaps.equalities.begin(), gaps.equalities.end(), 0.0);
      break;
    case Level::kNoCorrections: level_ = Level::kWideRank; return true;
    case Level::kWideRank:
    case Level::kFrictionless: return false;
  }
  set_constants(terms, gaps, &system->whitened.rows);
  return true;
}

ConflictFallbacks::Slowdown ConflictFallbacks::slow_corrections(std::span<const double> y,
                                                                const RigidTerms& terms,
                                                                RigidIterate* iterate,
                                                                ReducedSystem* system) {
  if (!has_corrections()) return Slowdown::kNotNeeded;
  const auto squared_norm = [](std::span<const double> x) {
    return math::dot(static_cast<int>(x.size()), x.data(), x.data());
  };
  const double speed = squared_norm(y), free = squared_norm(system->whitened.y_free);
  if (speed <= free) return Slowdown::kNotNeeded;  // as in most steps, without a look at the rows
  const double fastest = calc_fastest(system->whitened, share_);
  if (std::sqrt(speed) <= (1 + kWedgeRoundOff) * fastest) return Slowdown::kNotNeeded;
  if (++num_slowdowns_ > kMaxSlowdowns) return Slowdown::kFailed;
  // While the same constraints are active, the gain is quadratic in the corrections.
  const double factor = kSlowdownMargin * std::sqrt((fastest * fastest - free) / (speed - free));
  if (!(share_ * factor >= kLeastShare)) return Slowdown::kFailed;
  share_ *= factor;
  scale_corrections(factor, &iterate->gaps);
  set_constants(terms, iterate->gaps, &system->whitened.rows);
  return Slowdown::kSlowed;
}

/// Finds the corrections that equalities reach if they act as stiff springs. A robot that an
/// equality drives into a table then moves on along the table.
/// @return false if equalities have no corrections, or if no possible corrections were found
bool ConflictFallbacks::relax_equalities(const RigidTerms& terms, const RigidIterate& iterate,
                                         const ReducedSystem& system) {
  const std::vector<double>& corrections = iterate.gaps.equalities;
  const int n = terms.num_dofs(), num_equalities = terms.num_equalities();
  relaxed_.clear();
  for (int i = 0; i < num_equalities; ++i)
    relaxed_.push_back(terms.row(terms.equalities[i]).bias + corrections[i]);
  const double driven_speed = math::norm(relaxed_);
  if (driven_speed == 0) return false;

  // Springs in place of the equalities.
  WhitenedProblem& soft = soft_.whitened;
  soft.whitening = system.whitened.whitening;
  stiffness_.clear();
  for (int i = 0; i < num_equalities; ++i) {
    const double* row = system.whitened.rows.E.data() + static_cast<std::size_t>(i) * n;
    const double mobility = std::max(math::dot(n, row, row), system.whitened.rows.inertial_e[i]);
    stiffness_.push_back(mobility > 0 ? kRelaxedStiffness / mobility : 0);
    soft.whitening.couple(terms.row_jacobian(terms.equalities[i]).dofs);
  }
  if (whiten(terms, iterate, stiffness_, &soft) != contact::SolveStatus::kConverged) return false;
  (void)project(terms, soft, iterate.sticking, rank_tolerance(), &soft_.projected);

  // Leave out Coulomb friction, which increases with the forces of the springs.
  without_coulomb_ = terms.friction;
  std::fill(without_coulomb_.mu.begin(), without_coulomb_.mu.end(), 0.0);
  if (!solve_reduced(terms, without_coulomb_, soft.y_free, &soft_, &law_solver_).is_solved())
    return false;

  // Each equality must end near its correction or near rest, where a body is stopped.
  soft_v_ = law_solver_.solution.u;
  soft.whitening.to_v(soft_v_.data());
  relaxed_.clear();
  for (int i = 0; i < num_equalities; ++i) {
    const double v = terms.calc_row_velocity(terms.equalities[i], soft_v_);
    if (!(std::min(std::abs(v + corrections[i]), std::abs(v)) <= driven_speed)) return false;
    relaxed_.push_back(-v);
  }
  return true;
}

void ConflictFallbacks::note_conflict(int row, const RigidTerms& terms) {
  STICTION_ASSERT(row < terms.num_unilateral());
  conflict_.is_found = true;
  if (row < 0) return;
  if (row < terms.num_contacts())
    conflict_.contact = terms.problem_contact(row);
  else
    conflict_.row = terms.problem_row(terms.limits[row - terms.num_contacts()]);
}

void ConflictFallbacks::note_overdriven(int equality, const RigidTerms& terms) {
  conflict_ = {
      .is_found = true, .contact = -1, .row = terms.problem_row(terms.equalities[equality])};
}

}  // namespace stiction::formulations
