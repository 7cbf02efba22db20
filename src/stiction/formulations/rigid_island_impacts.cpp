// Impacts with restitution.
#include "stiction/formulations/rigid_island.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/contact/rigid_touch.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using contact::Contact;
using contact::SolveStatus;
using numerics::LcpReport;

/// Impacts with restitution, until what they press is held. What rebounds does not change friction:
/// that of dry joints stays as it is without.
void RigidIsland::solve_impacts(RigidLaw* law) {
  for (FrictionTerm& term : frictions_) {
    term.impulse = row_impulses_[term.row];
    term.weight = 0;
  }
  while (find_rebounds()) {
    if (!prepare()) return;
    rebound(law);
    if (statistics_.status != SolveStatus::kConverged) return;
    finish();
    if (!hold_pressing()) return;
  }
}

/// @return true if there are contacts that hit; those that did once do again
bool RigidIsland::find_rebounds() {
  bool is_any = false;
  for (ContactTerms& c : contacts_) {
    const Contact& contact = problem_->contacts[island_.contacts()[c.contact]];
    if (contact.restitution == 0 || (!c.rebounds && !(c.impulse[2] > 0))) continue;
    const DenseJacobian<3> J = island_.contact_jacobian(c.contact);
    const double v_n0 = J.multiply(v0_).z() + contact.bias[2];
    const double v_n_star = J.multiply(v_star_).z() + contact.bias[2];
    if (!contact::is_impact(v_n0, v_n_star)) continue;
    c.rebounds = is_any = true;
    c.correction = 0;
  }
  return is_any;
}

/// Poisson's restitution: contacts that hit are compressed until they stop, give back a share of
/// that impulse, and whatever closes then is stopped once more. Source: theory section 10.
void RigidIsland::rebound(RigidLaw* law) {
  const LcpReport compression = solve_with_ladder(law);
  statistics_.status = to_solve_status(compression.status);
  if (!compression.is_solved()) return;
  z_total_ = impulses_.z;
  t_total_ = impulses_.tangents;
  dry_total_ = impulses_.dry;
  y_ = impulses_.u;
  scratch_ = y_;
  const auto restitution = [this](std::size_t i) {
    if (!contacts_[i].rebounds) return 0.0;
    return problem_->contacts[island_.contacts()[contacts_[i].contact]].restitution;
  };
  rebound_.assign(n_, 0.0);
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    math::add_multiple(n_, restitution(i) * z_total_[i], N_projected_.data() + i * n_,
                       rebound_.data());
  const double share = calc_rebound_share();
  math::add_multiple(n_, share, rebound_.data(), y_.data());
  for (std::size_t i = 0; i < contacts_.size(); ++i) z_total_[i] *= 1 + share * restitution(i);
  bool closes = false;
  constexpr double kTolerance = 1e-10;  // [m/s]
  for (std::size_t i = 0; i < b_projected_.size(); ++i) {
    const double* row = N_projected_.data() + i * n_;
    const double w = math::dot(n_, row, y_.data()) + b_projected_[i];
    const double w_compressed = math::dot(n_, row, scratch_.data()) + b_projected_[i];
    closes = closes || (w < -kTolerance && w < w_compressed);
  }
  if (!closes) return;
  // Compression has had the friction that does not grow with normal impulses.
  std::fill(dry_bounds_.begin(), dry_bounds_.end(), 0.0);
  std::fill(nu_.begin(), nu_.end(), 0.0);
  const LcpReport last = solve_stage(y_, law);
  for (std::size_t i = 0; i < dry_.size(); ++i)
    dry_bounds_[i] = problem_->rows[island_.rows()[dry_[i]]].bound;
  for (std::size_t i = 0; i < nu_.size(); ++i)
    nu_[i] = problem_->time_step *
             problem_->contacts[island_.contacts()[contacts_[i].contact]].viscous_friction;
  statistics_.status = to_solve_status(last.status);
  for (std::size_t i = 0; i < z_total_.size(); ++i) z_total_[i] += impulses_.z[i];
  for (std::size_t i = 0; i < t_total_.size(); ++i) t_total_[i] += impulses_.tangents[i];
}

/// The share of rebound_ that gives back no more energy than compression took: that took less of
/// it by N than by N and T against each other, of which T stays as it is. 1 where surfaces move.
double RigidIsland::calc_rebound_share() const {
  for (const ContactTerms& c : contacts_)
    if (problem_->contacts[island_.contacts()[c.contact]].bias != std::array<double, 3>{}) return 1;
  const double taken =
      0.5 * (math::dot(n_, u_hat_.data(), u_hat_.data()) - math::dot(n_, y_.data(), y_.data()));
  // 1/2 |y + s d|^2 - 1/2 |y|^2 = taken
  const double dd = math::dot(n_, rebound_.data(), rebound_.data());
  const double yd = math::dot(n_, y_.data(), rebound_.data());
  if (yd + 0.5 * dd <= taken) return 1;
  return std::clamp((-yd + std::sqrt(std::max(0.0, yd * yd + 2 * dd * taken))) / dd, 0.0, 1.0);
}

/// @return true if contacts press that were not held
bool RigidIsland::hold_pressing() {
  bool is_changed = false;
  for (ContactTerms& c : contacts_) {
    const Contact& contact = problem_->contacts[island_.contacts()[c.contact]];
    if (uses_tangents_ || contact.dim == 1 || c.is_held || !(c.impulse[2] > 0)) continue;
    c.is_held = is_changed = true;
  }
  return is_changed;
}

}  // namespace stiction::formulations
