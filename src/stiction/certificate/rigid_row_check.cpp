#include "stiction/certificate/rigid_checks.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {

using contact::RowKind;

namespace {

/// One row of a step.
struct RowView {
  const SolvedStep& step;
  const Row& row;
  double gamma = 0;            // [N s, N m s]
  double v = 0;                // at the end [m/s, rad/s]
  bool is_in_rebound = false;  // a contact of its island rebounds
};

/// Returns the signed velocity that corrects a row of an equality, its share [m/s, rad/s].
double calc_correction(const SolvedStep& step, const contact::Row& row) {
  const double whole = std::max(std::abs(row.position), row.error_norm);
  if (whole == 0) return 0;
  const double speed = -calc_gap_speed(-whole, step.problem.time_step, step.parameters);
  return -row.position / whole * speed;
}

/// Checks that 0 <= gamma is complementary to v + b >= 0.
void check_limit(const RowView& view, RigidFindings* out) {
  const double gamma = view.gamma, v = view.v;
  const double b =
      calc_gap_speed(view.row.position, view.step.problem.time_step, view.step.parameters);
  const double closing = -v - std::max(b, 0.0);
  grow(view.is_in_rebound
           ? std::max(0.0, closing)
           : calc_complementarity(calc_row_mobility(view.step.problem, view.step.islands, view.row),
                                  gamma, v, b),
       &out->certificate.rigid.complementarity);
  grow(closing, &out->closing_speed);
  out->complementarity += std::max(0.0, gamma * std::min(v + b, v + std::max(b, 0.0)));
  if (gamma < 0)
    out->certificate.min_normal_impulse = std::min(out->certificate.min_normal_impulse, gamma);
}

/// Checks that an equality's velocity is that of its correction, or a part of it.
/// @param conflict what conflicting corrections of the island may leave in any row
void check_equality(const RowView& view, const RigidRowCheck::Corrections& conflict,
                    RigidFindings* out) {
  const double target = calc_correction(view.step, view.row);
  const double error =
      std::abs(view.v - std::clamp(view.v, std::min(target, 0.0), std::max(target, 0.0)));
  const double mobility = calc_row_mobility(view.step.problem, view.step.islands, view.row);
  const double allowed = std::max(conflict.speed, std::sqrt(mobility) * conflict.motion);
  grow(std::max(0.0, error - allowed), &out->certificate.rigid.constraint_error);
  out->violation += error * std::abs(view.gamma);
}

/// Returns phi(v) + phi*(-gamma) + gamma v [J], where gamma = -phi'(v) is the law of dry friction
/// with a bound B and a compliance c. It is 0 if gamma and v satisfy the law, and positive if not.
double calc_law_gap(const RowView& view, double c) {
  const double v = std::abs(view.v), B = view.row.bound;
  const double potential = v < c * B ? 0.5 * v * v / c : B * (v - 0.5 * c * B);
  return potential + 0.5 * c * view.gamma * view.gamma + view.gamma * view.v;
}

/// Checks dry friction: within its bound a joint creeps at v = -c gamma, where c is its compliance,
/// and at its bound friction opposes the motion. Under models with friction polygons, c is 0.
void check_dry_friction(const RowView& view, RigidFindings* out) {
  const double missing = view.row.bound - std::abs(view.gamma);
  grow(-missing, &out->certificate.max_cone_excess);
  if (view.is_in_rebound ||
      contact::traits(view.step.model).tangents == contact::TangentPolicy::kLeastEnergy)
    return;
  const double c =
      contact::traits(view.step.model).uses_friction ? 0 : contact::calc_dry_compliance(view.row);
  const double slip = view.v + c * view.gamma;
  const double mobility = c + calc_row_mobility(view.step.problem, view.step.islands, view.row);
  grow(view.gamma * slip, &out->certificate.max_friction_work);
  grow(std::min(std::abs(slip), mobility * missing), &out->certificate.rigid.complementarity);
  out->complementarity += std::max(0.0, calc_law_gap(view, c));
}

/// Checks springs.
/// @return the impulse that the law prescribes
double check_spring(const RowView& view, RigidFindings* out) {
  const double law = calc_reference_row_impulse(view.row, view.v);
  grow(std::abs(law - view.gamma), &out->certificate.impulse_error);
  out->energy_gain += std::max(0.0, law * view.v);
  return law;
}

/// Records sizes that judge rounding errors, the work of drives, and a rebound's dry friction.
void add_scales(const RowView& view, RigidFindings* out) {
  out->is_finite = out->is_finite && std::isfinite(view.gamma);
  grow(std::abs(view.gamma), &out->impulse);
  out->sum_of_impulses += std::abs(view.gamma);
  grow(std::abs(view.v), &out->speed);
  out->energy_gain += std::max(0.0, -view.gamma * view.row.bias);
  // Dry friction keeps the direction that it has without the rebound, and may then do work.
  if (view.is_in_rebound && view.row.kind == RowKind::kFriction)
    out->energy_gain += std::max(0.0, view.gamma * view.v);
}

}  // namespace

void RigidRowCheck::calc(const SolvedStep& step, const Rebounds& rebounds,
                         GeneralizedImpulses* impulses, RigidFindings* out) {
  const ContactProblem& problem = step.problem;
  calc_corrections(step);
  for (int i = 0; i < problem.num_rows(); ++i) {
    const Row& row = problem.rows[i];
    const int island = step.island_of_row(row);
    const RowView view = {.step = step,
                          .row = row,
                          .gamma = step.solution.row_impulses[i],
                          .v = calc_row_velocity(problem, row, step.solution.v),
                          .is_in_rebound = rebounds.in_island(island)};
    add_scales(view, out);
    double law = view.gamma;
    if (row.kind == RowKind::kLimit)
      check_limit(view, out);
    else if (row.kind == RowKind::kEquality)
      check_equality(view, corrections_[island], out);
    else if (row.kind == RowKind::kFriction)
      check_dry_friction(view, out);
    else
      law = check_spring(view, out);
    const bool is_spring = row.kind == RowKind::kSpring;
    add_row_force(problem, row, view.gamma, is_spring ? impulses->spring : impulses->constraint);
    add_row_force(problem, row, law, impulses->by_law);
  }
}

/// Computes the norms of each island's equality corrections. The velocity of an equality may be off
/// by that much: redundant rows have no correction of their own, and a conflict changes the
/// corrections of all rows. A long row that depends on a short one moves faster than this. If the
/// solver reports a conflict, a body may also stay behind the one that drives it.
void RigidRowCheck::calc_corrections(const SolvedStep& step) {
  corrections_.assign(step.islands.size(), {});
  for (const Row& row : step.problem.rows) {
    if (row.kind != RowKind::kEquality) continue;
    const int island = step.island_of_row(row);
    const bool is_left_behind = step.solution.islands[island].has_conflict;
    const double speed =
        std::abs(calc_correction(step, row)) + (is_left_behind ? std::abs(row.bias) : 0);
    if (speed == 0) continue;
    Corrections& sum = corrections_[island];
    sum.speed = math::hypot(sum.speed, speed);
    const double mobility = calc_row_mobility(step.problem, step.islands, row);
    if (mobility > 0) sum.motion = math::hypot(sum.motion, speed / std::sqrt(mobility));
  }
  add_dependent_rows(step);
}

/// Adds what equalities may miss in a conflict, whose last fallback drops rows nearly alike.
void RigidRowCheck::add_dependent_rows(const SolvedStep& step) {
  constexpr double kDependentAngle = 1e-5;
  const std::vector<contact::IslandStatistics>& islands = step.solution.islands;
  if (std::none_of(islands.begin(), islands.end(), [](const auto& i) { return i.has_conflict; }))
    return;
  const std::vector<double>& v = step.solution.v;
  momentum_.assign(v.size(), 0.0);
  add_A_product(step.problem, v, momentum_);
  for (int island = 0; island < step.islands.size(); ++island) {
    if (!islands[island].has_conflict) continue;
    double squared = 0;  // |v|_A^2
    for (const int block : step.islands.blocks(island))
      for (int i = step.problem.dof_start[block]; i < step.problem.dof_start[block + 1]; ++i)
        squared += v[i] * momentum_[i];
    double& motion = corrections_[island].motion;
    motion = math::hypot(motion, kDependentAngle * std::sqrt(squared));
  }
}

}  // namespace stiction::certificate
