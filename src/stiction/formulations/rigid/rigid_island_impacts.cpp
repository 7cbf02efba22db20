// Impacts with restitution.
#include "stiction/formulations/rigid/rigid_island.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/rigid_touch.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using contact::Contact;
using contact::SolveStatus;
using numerics::LcpReport;

/// Impacts with restitution, until what they press is held. What rebounds does not change friction:
/// that of dry joints stays as it is without.
/// @return true if velocities are new
bool RigidIsland::solve_impacts(RigidLaw* law) {
  for (FrictionTerm& term : frictions_) {
    term.impulse = row_impulses_[term.row];
    term.weight = 0;
  }
  bool is_any = false;
  while (find_rebounds()) {
    if (!prepare()) break;
    rebound(law);
    if (statistics_.status != SolveStatus::kConverged) break;
    finish();
    is_any = true;
    if (!hold_pressing()) break;
  }
  return is_any;
}

/// @return true if there are contacts that hit; those that did once do again
bool RigidIsland::find_rebounds() {
  bool is_any = false;
  for (ContactTerms& c : contacts_) {
    const Contact& contact = contact_of(c);
    if (contact.law.restitution == 0 || (!c.rebounds && !(c.impulse[2] > 0))) continue;
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
/// that impulse, and whatever closes then is stopped once more. Source:
/// [theory:poisson-restitution].
void RigidIsland::rebound(RigidLaw* law) {
  const LcpReport compression = solve_with_ladder(law);
  statistics_.status = to_solve_status(compression.status);
  if (!compression.is_solved()) return;
  z_total_ = impulses_.z;
  t_total_ = impulses_.tangents;
  dry_total_ = impulses_.dry;
  y_ = impulses_.u;
  scratch_ = y_;
  rebound_.assign(n_, 0.0);
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    math::add_multiple(n_, restitution_of(contacts_[i]) * z_total_[i], N_projected_.data() + i * n_,
                       rebound_.data());
  const double share = calc_rebound_share();
  math::add_multiple(n_, share, rebound_.data(), y_.data());
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    z_total_[i] *= 1 + share * restitution_of(contacts_[i]);
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
    nu_[i] = problem_->time_step * contact_of(contacts_[i]).law.viscous_friction;
  statistics_.status = to_solve_status(last.status);
  for (std::size_t i = 0; i < z_total_.size(); ++i) z_total_[i] += impulses_.z[i];
  for (std::size_t i = 0; i < t_total_.size(); ++i) t_total_[i] += impulses_.tangents[i];
}

/// The share of rebound_ that gives back no more energy than compression took, by the velocities
/// that its impulses met, of surfaces relative to each other. N and T, which worked against each
/// other, took less than N alone, and T stays as it is. What corrections of overlaps drive apart is
/// none of it.
double RigidIsland::calc_rebound_share() const {
  double taken = 0, separating = 0;
  const auto add_work = [&](const std::vector<double>& rows, std::size_t i, double b, double p) {
    const double* row = rows.data() + i * n_;
    taken -= p * (b + 0.5 * (math::dot(n_, row, u_hat_.data()) + math::dot(n_, row, y_.data())));
  };
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const double bias = contact_of(contacts_[i]).bias[2];
    separating += restitution_of(contacts_[i]) * z_total_[i] *
                  (bias + math::dot(n_, N_.data() + i * n_, y_.data()));
    if (contacts_[i].correction < 0) continue;
    add_work(N_, i, bias, z_total_[i]);
    for (std::size_t t = 2 * i; t < 2 * i + 2 && !t_total_.empty(); ++t)
      add_work(T_, t, b_t_[t], t_total_[t]);
  }
  for (std::size_t i = 0; i < limits_.size(); ++i)
    if (limit_bounds_[i] >= 0)
      add_work(N_, contacts_.size() + i, 0, z_total_[contacts_.size() + i]);
  for (std::size_t i = 0; i < dry_total_.size(); ++i) add_work(F_, i, 0, dry_total_[i]);
  // A share s gives back s separating + s^2 moving: what presses has stopped, but where impulses
  // are those of least energy.
  const double moving = 0.5 * math::dot(n_, rebound_.data(), rebound_.data());
  constexpr double kRoundOff = 1e-12;
  if (separating + moving <= taken * (1 + kRoundOff)) return 1;
  const double root = std::sqrt(std::max(0.0, separating * separating + 4 * moving * taken));
  return moving > 0 ? std::clamp(0.5 * (root - separating) / moving, 0.0, 1.0) : 0;
}

/// @return true if contacts press that were not held
bool RigidIsland::hold_pressing() {
  bool is_changed = false;
  for (ContactTerms& c : contacts_) {
    const Contact& contact = contact_of(c);
    if (uses_tangents_ || contact.dim == 1 || c.is_held || !(c.impulse[2] > 0)) continue;
    c.is_held = is_changed = true;
  }
  return is_changed;
}

}  // namespace stiction::formulations
