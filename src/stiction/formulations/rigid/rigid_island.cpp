#include "stiction/formulations/rigid/rigid_island.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/rigid_touch.hpp"
#include "stiction/laws/dry_friction.hpp"
#include "stiction/math/spatial.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {
namespace {

using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::IslandStatistics;
using contact::Row;
using contact::RowKind;
using contact::SolveStatus;
using numerics::LcpReport;
using numerics::LcpStatus;

/// f += s row of J.
template <int kSize>
void add_row(const DenseJacobian<kSize>& J, int row, double s, double* f) {
  for (std::size_t i = 0; i < J.dofs.size(); ++i) f[J.dofs[i]] += s * J.columns(row, i);
}

/// Of a limit, among the ids of contacts.
std::uint64_t make_limit_key(const ContactProblem& problem, const Row& row) {
  constexpr std::uint64_t kIsLimit = std::uint64_t{1} << 63;
  const bool is_upper = problem.row_columns[row.first_column] < 0;
  return kIsLimit | 2 * static_cast<std::uint64_t>(problem.row_dof[row.first_column]) | is_upper;
}

}  // namespace

SolveStatus RigidIsland::to_solve_status(LcpStatus status) {
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

void RigidIsland::assemble(const ContactProblem& problem, const contact::Islands& islands,
                           int island, std::span<const int> first_dof, ContactModel model,
                           const SolverOptions& options) {
  problem_ = &problem;
  model_ = model;
  parameters_ = options.parameters;
  uses_tangents_ = contact::traits(model).uses_friction;
  island_.assemble_constraints(problem, islands, island, first_dof);
  n_ = island_.num_dofs();
  statistics_ = {};
  statistics_.num_dofs = n_;
  statistics_.num_contacts = island_.num_contacts();
  statistics_.num_rows = island_.num_rows();
  const auto gather = [&](std::span<const double> all, std::vector<double>* x) {
    x->resize(n_);
    for (int i = 0; i < n_; ++i) (*x)[i] = all[island_.dofs()[i]];
  };
  gather(problem.v0, &v0_);
  gather(problem.v_star, &v_star_);
  v_ = v_star_;
  velocities_.clear();
  dependence_ = kNarrowest;
  corrections_ = Corrections::kAll;
  softness_.clear();
  impulses_.active.clear();
  start_contacts(problem);
  start_rows(problem);

  whitening_.start(problem, islands, island, first_dof, n_);
  for (const int row : springs_) whitening_.couple(island_.row_jacobian(row).dofs);
  for (const FrictionTerm& term : frictions_)
    whitening_.couple(island_.row_jacobian(term.row).dofs);
  if (model == ContactModel::viscous)
    for (const ContactTerms& c : contacts_)
      if (contact_of(c).law.viscous_friction > 0)
        whitening_.couple(island_.contact_jacobian(c.contact).dofs);
}

double RigidIsland::correct(double position) const {
  const double speed = position / problem_->time_step;
  return position > 0
             ? speed
             : std::max(parameters_.gap_correction * speed, -parameters_.max_correction_speed);
}

void RigidIsland::start_contacts(const ContactProblem& problem) {
  contacts_.clear();
  for (auto* values : {&mu_, &nu_, &slip0_}) values->clear();
  const bool holds = !uses_tangents_ && contact::holds_all_touching(model_, parameters_);
  for (int i = 0; i < island_.num_contacts(); ++i) {
    const Contact& c = problem.contacts[island_.contacts()[i]];
    ContactTerms terms;
    terms.contact = i;
    const bool is_touching = contact::is_touching(c);
    if (model_ == ContactModel::anitescu_potra) {
      if (!is_touching) continue;
      terms.correction = std::min(0.0, correct(c.phi0));
    } else {
      terms.correction = correct(c.phi0);
    }
    terms.is_held = holds && is_touching && c.dim > 1;
    contacts_.push_back(terms);
    if (!uses_tangents_) continue;
    mu_.push_back(std::min(c.sliding_friction(), kSticks));
    nu_.push_back(problem.time_step * c.law.viscous_friction);
    const math::Vector3 v0 = island_.contact_jacobian(i).multiply(v0_);
    slip0_.push_back(std::hypot(v0.x() + c.bias[0], v0.y() + c.bias[1]));
  }
}

void RigidIsland::start_rows(const ContactProblem& problem) {
  for (auto* rows : {&limits_, &equalities_, &springs_, &dry_}) rows->clear();
  frictions_.clear();
  dry_bounds_.clear();
  limit_bounds_.clear();
  equality_b_.clear();
  row_impulses_.assign(island_.num_rows(), 0.0);
  for (int i = 0; i < island_.num_rows(); ++i) {
    const Row& row = problem.rows[island_.rows()[i]];
    if (row.kind == RowKind::kFriction && uses_tangents_) {
      dry_.push_back(i);
      dry_bounds_.push_back(row.bound);
    } else if (row.kind == RowKind::kFriction) {
      FrictionTerm term;
      term.row = i;
      laws::calc_dry_friction(row, 0, &term.weight);
      if (row.bound > 0) frictions_.push_back(term);
    } else if (row.kind == RowKind::kLimit) {
      limits_.push_back(i);
      limit_bounds_.push_back(correct(row.position));
    } else if (row.kind == RowKind::kSpring) {
      springs_.push_back(i);
    } else {
      const double speed = parameters_.gap_correction * row.position / problem.time_step;
      const double most = parameters_.max_correction_speed;
      equalities_.push_back(i);
      equality_b_.push_back(std::clamp(speed, -most, most));
    }
  }
}

IslandStatistics RigidIsland::solve(const Pushing& guess, RigidLaw* law) {
  guess_rows(guess.first);
  pushing_.first.clear();
  pushing_.last.clear();

  constexpr int kMaxRounds = 200;  // of dry friction; held contacts are as many as they are
  int friction_rounds = 0;
  // What is held changes neither A nor the rows, but for what acts on A.
  const bool changes_A = !frictions_.empty() || model_ == ContactModel::viscous;
  bool is_first = true, keeps = true;
  for (bool is_stale = true;; is_stale = changes_A) {
    if (is_stale && !prepare()) break;
    const LcpReport report = solve_with_ladder(law);
    statistics_.status = to_solve_status(report.status);
    statistics_.residual = report.residual;
    statistics_.scale = 1;
    if (!report.is_solved()) break;
    z_total_ = impulses_.z;
    t_total_ = impulses_.tangents;
    dry_total_ = impulses_.dry;
    finish();
    keeps = keeps_constraints();
    if ((!keeps || is_wedged()) && relax(-1, law)) continue;
    if (is_first) find_keys(&pushing_.first);
    const bool holds_more = update_held();
    if (is_first && holds_more) guess_rows(guess.last);
    is_first = false;
    // Of the bounds; Lemke's answers are no better than the second.
    constexpr double kTolerance = 1e-10, kEnough = 1e-7;
    constexpr int kExactRounds = 30;
    const bool is_open = update_friction(friction_rounds < kExactRounds ? kTolerance : kEnough);
    if (is_open && ++friction_rounds == kMaxRounds) {
      statistics_.status = SolveStatus::kMaxIterations;
      break;
    }
    if (!holds_more && !is_open) break;
  }
  if (statistics_.status == SolveStatus::kConverged && solve_impacts(law))
    keeps = keeps_constraints();
  if (statistics_.status == SolveStatus::kConverged && !keeps)
    statistics_.status = SolveStatus::kInfeasible;
  if (statistics_.status == SolveStatus::kConverged) check_equalities();
  if (velocities_.empty()) calc_contact_velocities();  // after a failure, of v*
  find_keys(&pushing_.last);
  return statistics_;
}

/// A, and all rows whitened by it.
bool RigidIsland::prepare() {
  if (!factor()) {
    statistics_.status = SolveStatus::kNotPositiveDefinite;
    return false;
  }
  whiten();
  if (is_finite()) return true;
  statistics_.status = SolveStatus::kNotFinite;
  return false;
}

/// A and what acts on it.
bool RigidIsland::factor() {
  whitening_.begin(*problem_);
  scratch_.assign(n_, 0.0);  // J^T of the terms' impulses at v*
  const auto add = [&](const auto& J, int r, double weight, double impulse) {
    add_row(J, r, impulse, scratch_.data());
    whitening_.add(J, r, weight);
  };
  for (const int r : springs_) {
    const Row& row = problem_->rows[island_.rows()[r]];
    const DenseJacobian<1> J = island_.row_jacobian(r);
    add(J, 0, 1 / row.regularization, (row.target - J.multiply(v_star_)[0]) / row.regularization);
  }
  for (std::size_t i = 0; i < softness_.size(); ++i) {
    const DenseJacobian<1> J = island_.row_jacobian(equalities_[i]);
    add(J, 0, softness_[i], -softness_[i] * (equality_b_[i] + J.multiply(v_star_)[0]));
  }
  for (const FrictionTerm& term : frictions_) {
    const DenseJacobian<1> J = island_.row_jacobian(term.row);
    add(J, 0, term.weight, term.impulse - term.weight * (J.multiply(v_star_)[0] - term.velocity));
  }
  if (model_ == ContactModel::viscous) {
    for (const ContactTerms& c : contacts_) {
      const Contact& contact = contact_of(c);
      const double weight = problem_->time_step * contact.law.viscous_friction;
      if (!c.is_held || weight == 0) continue;
      const DenseJacobian<3> J = island_.contact_jacobian(c.contact);
      const math::Vector3 v = J.multiply(v_star_);
      for (int r = 0; r < 2; ++r) add(J, r, weight, -weight * (v[r] + contact.bias[r]));
    }
  }
  if (!whitening_.factor()) return false;
  calc_friction_mobilities();
  y_hat_ = v_star_;
  whitening_.to_y(y_hat_.data());
  whitening_.whiten(scratch_.data());
  math::add_multiple(n_, 1, scratch_.data(), y_hat_.data());
  return true;
}

/// J A^-1 J^T of the rows of dry friction, A being what was factored first, less the row's own
/// weight.
void RigidIsland::calc_friction_mobilities() {
  for (FrictionTerm& term : frictions_) {
    if (term.mobility > 0) continue;
    const DenseJacobian<1> J = island_.row_jacobian(term.row);
    y_.resize(n_);
    whitening_.whiten(J, y_.data());
    const double weighted = math::dot(n_, y_.data(), y_.data());
    // Sherman and Morrison; what they leave of a row that others hold is round-off.
    constexpr double kLeast = 1e-6;
    term.mobility = weighted / std::max(kLeast, 1 - term.weight * weighted);
  }
}

void RigidIsland::whiten() {
  const int num_contacts = static_cast<int>(contacts_.size());
  const int num_unilateral = num_contacts + static_cast<int>(limits_.size());
  const bool needs_tangents = uses_tangents_ || model_ == ContactModel::no_slip;
  N_.resize(static_cast<std::size_t>(num_unilateral) * n_);
  T_.resize(needs_tangents ? static_cast<std::size_t>(2) * num_contacts * n_ : 0);
  E_.resize(equalities_.size() * n_);
  F_.resize(dry_.size() * n_);
  b_f_.assign(dry_.size(), 0.0);
  b_.resize(num_unilateral);
  b_t_.resize(2 * num_contacts);
  for (int i = 0; i < num_contacts; ++i) {
    const ContactTerms& c = contacts_[i];
    const Contact& contact = contact_of(c);
    double* const rows[] = {whitened(&T_, needs_tangents ? 2 * i : 0),
                            whitened(&T_, needs_tangents ? 2 * i + 1 : 0), whitened(&N_, i)};
    whitening_.whiten(island_.contact_jacobian(c.contact), needs_tangents ? 0 : 2, rows);
    std::copy_n(contact.bias.data(), 2, b_t_.data() + 2 * i);
    b_[i] = contact.bias[2] + c.correction;
  }
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const int row = num_contacts + static_cast<int>(i);
    whitening_.whiten(island_.row_jacobian(limits_[i]), whitened(&N_, row));
    b_[row] = limit_bounds_[i];
  }
  for (std::size_t i = 0; i < equalities_.size(); ++i)
    whitening_.whiten(island_.row_jacobian(equalities_[i]), whitened(&E_, static_cast<int>(i)));
  for (std::size_t i = 0; i < dry_.size(); ++i)
    whitening_.whiten(island_.row_jacobian(dry_[i]), whitened(&F_, static_cast<int>(i)));
}

bool RigidIsland::is_finite() const {
  for (const auto* values : {&N_, &T_, &E_, &F_, &b_, &b_t_, &y_hat_})
    if (!math::all_finite(static_cast<int>(values->size()), values->data())) return false;
  return true;
}

/// What holds exactly: joints, before tangents.
/// @return a unilateral row that they leave no way and drive into what it bounds; -1 if none
int RigidIsland::eliminate() {
  bilateral_.start(n_);
  const int num_equalities = softness_.empty() ? static_cast<int>(equalities_.size()) : 0;
  if (num_equalities > 0) bilateral_.add(E_, equality_b_);
  held_.clear();
  if (model_ == ContactModel::no_slip) {
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      if (!contacts_[i].is_held) continue;
      held_.push_back(static_cast<int>(i));
      bilateral_.add(std::span(T_).subspan(2 * i * n_, 2 * n_), std::span(b_t_).subspan(2 * i, 2));
    }
  }
  bilateral_.eliminate(num_equalities, dependence_);
  const int locked = bilateral_.project_rows(N_, b_, &N_projected_, &b_projected_);
  if (uses_tangents_) bilateral_.project_rows(T_, b_t_, &T_projected_, &b_t_projected_);
  bilateral_.project_rows(F_, b_f_, &F_projected_, &b_f_projected_);
  return locked;
}

LcpReport RigidIsland::solve_stage(std::span<const double> y_hat, RigidLaw* law) {
  u_hat_.assign(y_hat.begin(), y_hat.end());
  bilateral_.satisfy(u_hat_.data());
  RigidStage stage;
  stage.num_columns = n_;
  stage.num_contacts = static_cast<int>(contacts_.size());
  stage.num_unilateral = static_cast<int>(b_projected_.size());
  stage.N = N_projected_;
  stage.b = b_projected_;
  stage.T = T_projected_;
  stage.b_t = b_t_projected_;
  stage.F = F_projected_;
  stage.b_f = b_f_projected_;
  stage.bound = dry_bounds_;
  stage.mu = mu_;
  stage.nu = nu_;
  stage.slip0 = slip0_;
  stage.u_hat = u_hat_;
  stage.guess = guess_;
  LcpReport report = law->solve(stage, &impulses_);
  if (!report.is_solved() && report.status != LcpStatus::kNotFinite &&
      is_round_off(report.residual))
    report.status = LcpStatus::kSolved;
  guess_ = impulses_.active;
  statistics_.iterations += report.pivots;
  ++statistics_.rounds;
  return report;
}

/// v, and the impulses that the laws of rows and held contacts have at it.
void RigidIsland::finish() {
  y_ = y_hat_;
  const int num_contacts = static_cast<int>(contacts_.size());
  for (std::size_t i = 0; i < z_total_.size(); ++i)
    math::add_multiple(n_, z_total_[i], N_.data() + i * n_, y_.data());
  for (std::size_t i = 0; i < t_total_.size(); ++i)
    math::add_multiple(n_, t_total_[i], T_.data() + i * n_, y_.data());
  for (std::size_t i = 0; i < dry_total_.size(); ++i)
    math::add_multiple(n_, dry_total_[i], F_.data() + i * n_, y_.data());
  const std::span<const double> bilateral_impulses = bilateral_.satisfy(y_.data());
  v_ = y_;
  whitening_.to_v(v_.data());
  calc_contact_velocities();

  for (int i = 0; i < num_contacts; ++i) {
    ContactTerms& c = contacts_[i];
    const Contact& contact = contact_of(c);
    c.impulse[0] = c.impulse[1] = 0;
    c.impulse[2] = z_total_[i];
    if (!t_total_.empty()) std::copy_n(t_total_.data() + 2 * i, 2, c.impulse);
    if (model_ == ContactModel::viscous && c.is_held) {
      for (int r = 0; r < 2; ++r)
        c.impulse[r] =
            -problem_->time_step * contact.law.viscous_friction * velocities_[c.contact][r];
    }
  }
  std::fill(row_impulses_.begin(), row_impulses_.end(), 0.0);
  for (std::size_t i = 0; i < limits_.size(); ++i)
    row_impulses_[limits_[i]] = z_total_[num_contacts + i];
  for (std::size_t i = 0; i < dry_.size(); ++i) row_impulses_[dry_[i]] = dry_total_[i];
  const int num_equalities = static_cast<int>(equalities_.size());
  for (std::size_t k = 0; k < bilateral_impulses.size(); ++k) {
    const int row = bilateral_.kept()[k], tangent = row - num_equalities;
    if (tangent < 0)
      row_impulses_[equalities_[row]] = bilateral_impulses[k];
    else
      contacts_[held_[tangent / 2]].impulse[tangent % 2] = bilateral_impulses[k];
  }
  for (const int r : springs_) {
    const Row& row = problem_->rows[island_.rows()[r]];
    row_impulses_[r] = (row.target - island_.row_jacobian(r).multiply(v_)[0]) / row.regularization;
  }
  for (const FrictionTerm& term : frictions_)
    row_impulses_[term.row] =
        term.impulse -
        term.weight * (island_.row_jacobian(term.row).multiply(v_)[0] - term.velocity);
}

void RigidIsland::calc_contact_velocities() {
  velocities_.resize(island_.num_contacts());
  for (int i = 0; i < island_.num_contacts(); ++i) {
    const auto& bias = problem_->contacts[island_.contacts()[i]].bias;
    velocities_[i] = island_.contact_jacobian(i).multiply(v_);
    for (int r = 0; r < 3; ++r) velocities_[i][r] += bias[r];
  }
}

/// @return true if contacts are held now that were not, or the other way
bool RigidIsland::update_held() {
  if (uses_tangents_) return false;
  const bool drops = !contact::holds_all_touching(model_, parameters_);
  constexpr double kSeparates = 1e-9;  // [m/s]
  bool is_changed = false;
  for (ContactTerms& c : contacts_) {
    const Contact& contact = contact_of(c);
    if (contact.dim == 1) continue;
    const bool separates = velocities_[c.contact].z() + c.correction > kSeparates;
    if (c.is_held) {
      if (!drops || c.was_dropped || c.impulse[2] > 0 || !separates) continue;
      c.is_held = false;
      c.was_dropped = is_changed = true;
    } else if (c.impulse[2] > 0 || (!c.was_dropped && !separates)) {
      c.is_held = is_changed = true;
    }
  }
  return is_changed;
}

/// Linearizes every law about the point of its curve that is nearest to where its row is now.
/// @param tolerance of the impulse, relative to its bound
/// @return true if a law is not met yet
bool RigidIsland::update_friction(double tolerance) {
  bool is_open = false;
  for (FrictionTerm& term : frictions_) {
    const Row& row = problem_->rows[island_.rows()[term.row]];
    double slope;
    const double v = island_.row_jacobian(term.row).multiply(v_)[0];
    const double gamma = row_impulses_[term.row];
    is_open = is_open ||
              std::abs(laws::calc_dry_friction(row, v, &slope) - gamma) > tolerance * row.bound;
    term.velocity = laws::find_on_dry_friction(row, term.mobility, v - term.mobility * gamma);
    term.impulse = laws::calc_dry_friction(row, term.velocity, &term.weight);
  }
  return is_open;
}

/// Rows that there are now of keys, which ascend.
void RigidIsland::guess_rows(const std::vector<std::uint64_t>& keys) {
  guess_.clear();
  const auto add = [&](std::uint64_t key, std::size_t row) {
    if (key != 0 && std::binary_search(keys.begin(), keys.end(), key))
      guess_.push_back(static_cast<int>(row));
  };
  for (std::size_t i = 0; i < contacts_.size(); ++i) add(contact_of(contacts_[i]).id, i);
  for (std::size_t i = 0; i < limits_.size(); ++i)
    add(make_limit_key(*problem_, problem_->rows[island_.rows()[limits_[i]]]),
        contacts_.size() + i);
}

/// Of what pushes in the last solve.
void RigidIsland::find_keys(std::vector<std::uint64_t>* keys) const {
  keys->clear();
  const int num_contacts = static_cast<int>(contacts_.size());
  for (const int row : impulses_.active) {
    if (row >= num_contacts) {
      const int limit = limits_[row - num_contacts];
      keys->push_back(make_limit_key(*problem_, problem_->rows[island_.rows()[limit]]));
    } else if (const std::uint64_t id = contact_of(contacts_[row]).id) {
      keys->push_back(id);
    }
  }
}

void RigidIsland::read_out(contact::ContactSolution* solution) const {
  constexpr double kSlips = 1e-9;  // [m/s]
  for (int i = 0; i < n_; ++i) solution->v[island_.dofs()[i]] = v_[i];
  for (int i = 0; i < island_.num_contacts(); ++i) {
    const int contact = island_.contacts()[i];
    const math::Vector3& v = velocities_[i];
    solution->contact_velocities[contact] = {v.x(), v.y(), v.z()};
    solution->impulses[contact] = {};
    solution->slipping[contact] = v.head<2>().norm() > kSlips;
  }
  for (const ContactTerms& c : contacts_) {
    const int contact = island_.contacts()[c.contact];
    solution->impulses[contact] = {c.impulse[0], c.impulse[1], c.impulse[2], 0, 0, 0};
  }
  for (int i = 0; i < island_.num_rows(); ++i)
    solution->row_impulses[island_.rows()[i]] = row_impulses_[i];
}

}  // namespace stiction::formulations
