// Where constraints conflict.
#include "stiction/formulations/rigid/rigid_island.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using contact::Contact;
using numerics::LcpReport;
using numerics::LcpStatus;

/// Of terms that cancel, an LCP knows the sum alone, and asks for digits of it that there are not.
bool RigidIsland::is_round_off(double residual) const {
  if (uses_tangents_) return false;  // not a speed alone
  // Where little is left to go, all that the certificate asks for.
  const double accepted = dependence_ == kWidest ? 1e-7 : 1e-13;
  double row = 0;
  for (std::size_t i = 0; i < b_.size(); ++i)
    row = std::max(row, math::dot(n_, N_.data() + i * n_, N_.data() + i * n_));
  return residual <= accepted * std::sqrt(row * math::dot(n_, u_hat_.data(), u_hat_.data()));
}

/// With corrections; where constraints conflict, with less of them.
LcpReport RigidIsland::solve_with_ladder(RigidLaw* law) {
  for (;;) {
    const int locked = eliminate();
    if (locked >= 0 && corrections_ != Corrections::kNone && relax(locked, law)) continue;
    if (locked >= 0) note_conflict(locked);
    const LcpReport report = solve_stage(y_hat_, law);
    if (report.is_solved() || report.status == LcpStatus::kNotFinite ||
        report.status == LcpStatus::kTooLarge || !relax(report.row, law))
      return report;
  }
}

/// First corrections go, those of equalities last, for they may be what leads a robot; then rows
/// that others imply up to what a certificate may tolerate: two contacts that are all but at one
/// place hold a body against spinning with impulses beyond measure.
/// @param row the unilateral row where a conflict was found; -1 if it is not known
/// @return false if nothing is left to go
bool RigidIsland::relax(int row, RigidLaw* law) {
  guess_.clear();
  switch (corrections_) {
    case Corrections::kAll:
      note_conflict(row);
      corrections_ = Corrections::kEqualities;
      if (drop_overlap_corrections()) break;
      [[fallthrough]];
    case Corrections::kEqualities:
      corrections_ = Corrections::kBent;
      if (bend_equalities(law)) break;
      [[fallthrough]];
    case Corrections::kBent:
      corrections_ = Corrections::kNone;
      std::fill(equality_b_.begin(), equality_b_.end(), 0.0);
      break;
    case Corrections::kNone:
      if (dependence_ == kWidest) return false;
      dependence_ = kWidest;
      return true;
  }
  whiten();
  return true;
}

/// @return false if there are none, or no equalities to keep those of
bool RigidIsland::drop_overlap_corrections() {
  bool is_any = false;
  const auto drop = [&is_any](double* correction) {
    is_any = is_any || *correction < 0;
    *correction = std::max(0.0, *correction);
  };
  for (ContactTerms& c : contacts_) drop(&c.correction);
  for (double& bound : limit_bounds_) drop(&bound);
  return is_any && !equalities_.empty();
}

/// Bends what equalities correct to where they end as springs, a million times as stiff as what
/// they hold is heavy: a robot that is led into a table goes on along it.
/// @return false, and all is as it was, if there are no corrections or none that are possible
bool RigidIsland::bend_equalities(RigidLaw* law) {
  const double asked = std::sqrt(
      math::dot(static_cast<int>(equality_b_.size()), equality_b_.data(), equality_b_.data()));
  if (asked == 0) return false;
  constexpr double kStiffness = 1e6;
  for (std::size_t i = 0; i < equalities_.size(); ++i) {
    const double* row = E_.data() + i * n_;
    const double mobility = math::dot(n_, row, row);
    softness_.push_back(mobility > 0 ? kStiffness / mobility : 0);
    whitening_.couple(island_.row_jacobian(equalities_[i]).dofs);
  }
  // Without friction, which rises with the springs' forces and would hold against them.
  no_mu_.assign(mu_.size(), 0.0);
  mu_.swap(no_mu_);
  bool is_bent = prepare();
  if (is_bent) {
    eliminate();
    is_bent = solve_stage(y_hat_, law).is_solved();
  }
  if (is_bent) {
    scratch_ = impulses_.u;
    whitening_.to_v(scratch_.data());
    bent_b_.clear();
    for (std::size_t i = 0; i < equalities_.size(); ++i) {
      const double v = island_.row_jacobian(equalities_[i]).multiply(scratch_)[0];
      is_bent = is_bent && std::min(std::abs(v + equality_b_[i]), std::abs(v)) <= asked;
      bent_b_.push_back(-v);
    }
  }
  mu_.swap(no_mu_);
  softness_.clear();
  if (!prepare() || !is_bent) return false;
  equality_b_.swap(bent_b_);
  return true;
}

void RigidIsland::note_conflict(int row) {
  statistics_.has_conflict = true;
  const int num_contacts = static_cast<int>(contacts_.size());
  if (row >= 0 && row < num_contacts)
    statistics_.conflict_contact = island_.contacts()[contacts_[row].contact];
  else if (row >= num_contacts && row < static_cast<int>(b_.size()))
    statistics_.conflict_row = island_.rows()[limits_[row - num_contacts]];
}

/// Those that others imply are left out, and are met unless they contradict each other.
void RigidIsland::check_equalities() {
  constexpr double kMissed = 1e-3;  // [m/s, rad/s], 10 um at 1 ms
  for (std::size_t i = 0; i < equalities_.size() && !statistics_.has_conflict; ++i) {
    const double v = island_.row_jacobian(equalities_[i]).multiply(v_)[0];
    if (std::abs(v + equality_b_[i]) <= kMissed) continue;
    statistics_.has_conflict = true;
    statistics_.conflict_row = island_.rows()[equalities_[i]];
  }
}

/// Along a direction that others hold all but exactly, a correction is a lever: true if bodies got
/// many times the speed that each correction alone gives those free to follow it, or if impulses
/// are so large that what they add up to is round-off.
bool RigidIsland::is_wedged() const {
  constexpr double kFastest = 10, kRoundOff = 1e-9;
  constexpr double kLargest = 1e7;
  const auto norm = [this](const double* x) { return std::sqrt(math::dot(n_, x, x)); };
  double largest = bilateral_.calc_largest_share();
  double speed = norm(y_hat_.data());  // what constraints without constants leave is no more
  for (std::size_t i = 0; i < b_.size(); ++i) {
    if (!(z_total_[i] > 0) && !(b_[i] < 0)) continue;
    const double size = norm(N_.data() + i * n_);
    largest = std::max(largest, size * z_total_[i]);
    if (b_[i] < 0) speed += kFastest * -b_[i] / size;
  }
  const auto add = [&](const std::vector<double>& rows, const std::vector<double>& b) {
    for (std::size_t i = 0; i * n_ < rows.size(); ++i)
      if (b[i] != 0) speed += kFastest * std::abs(b[i]) / norm(rows.data() + i * n_);
  };
  add(T_, b_t_);
  add(E_, equality_b_);
  return largest > kLargest * (1 + math::max_abs(y_hat_)) ||
         (corrections_ != Corrections::kNone && norm(y_.data()) > (1 + kRoundOff) * speed);
}

/// Surfaces that move against each other may drive a body that cannot follow both.
bool RigidIsland::keeps_constraints() const {
  double error = 0, speed = 1;
  for (const ContactTerms& c : contacts_) {
    const Contact& contact = contact_of(c);
    const math::Vector3& v = velocities_[c.contact];
    speed = std::max({speed, v.norm(), std::abs(contact.bias[0]), std::abs(contact.bias[1])});
    error = std::max(error, -v.z() - std::max(0.0, c.correction));
    for (int r = 0; r < 2 && c.is_held && model_ == contact::ContactModel::no_slip; ++r)
      error = std::max(error, std::abs(v[r]));
  }
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const double v = island_.row_jacobian(limits_[i]).multiply(v_)[0];
    speed = std::max(speed, std::abs(v));
    error = std::max(error, -v - std::max(0.0, limit_bounds_[i]));
  }
  constexpr double kTolerance = 1e-6;
  return error <= kTolerance * speed;
}

}  // namespace stiction::formulations
