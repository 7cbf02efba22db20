#include "stiction/certificate/rigid_row_check.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/reference_laws.hpp"

namespace stiction::certificate {

using contact::RowKind;
using contact::TangentPolicy;
using contact::traits;

namespace {

/// One row of a step.
struct RowView {
  const SolvedStep& step;
  const Row& row;
  double gamma = 0;            // [N s, N m s]
  double v = 0;                // at the end [m/s, rad/s]
  bool is_in_rebound = false;  // a contact of its island rebounds
};

/// Returns the signed velocity that corrects an equality which is open by `position` [m/s, rad/s].
double calc_correction(const SolvedStep& step, double position) {
  const double speed =
      -calc_gap_speed(-std::abs(position), step.problem.time_step, step.parameters);
  return position > 0 ? -speed : speed;
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

/// Checks that an equality's velocity is 0 or that of its correction.
/// @param conflict speed that conflicting corrections of the island may leave in any row
void check_equality(const RowView& view, double conflict, RigidFindings* out) {
  const double target = calc_correction(view.step, view.row.position);
  const double error = std::min(std::abs(view.v - target), std::abs(view.v));
  grow(std::max(0.0, error - conflict), &out->certificate.rigid.constraint_error);
  out->violation += error * std::abs(view.gamma);
}

/// Checks Coulomb's law: a row within its bound sticks, and a row at its bound opposes the motion.
void check_coulomb_friction(const RowView& view, RigidFindings* out) {
  const double missing = view.row.bound - std::abs(view.gamma);
  grow(-missing, &out->certificate.max_cone_excess);
  if (view.is_in_rebound || traits(view.step.model).tangents == TangentPolicy::kLeastEnergy) return;
  grow(view.gamma * view.v, &out->certificate.max_friction_work);
  grow(std::min(std::abs(view.v),
                calc_row_mobility(view.step.problem, view.step.islands, view.row) * missing),
       &out->certificate.rigid.complementarity);
}

/// Checks springs, and dry friction with a stiction tolerance.
/// @return the impulse that the law prescribes
double check_law(const RowView& view, RigidFindings* out) {
  // The solver computes friction as a fraction of its bound, so its error scales with the bound.
  if (view.row.kind == RowKind::kFriction) grow(view.row.bound, &out->impulse);
  const double law = calc_reference_row_impulse(view.row, view.v);
  grow(std::abs(law - view.gamma), &out->certificate.impulse_error);
  out->energy_gain += std::max(0.0, law * view.v);
  return law;
}

/// Records the sizes by which rounding errors are judged, and the energy that dry friction may add
/// in a rebound.
void add_scales(const RowView& view, RigidFindings* out) {
  out->is_finite = out->is_finite && std::isfinite(view.gamma);
  grow(std::abs(view.gamma), &out->impulse);
  out->sum_of_impulses += std::abs(view.gamma);
  grow(std::abs(view.v), &out->speed);
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
    const bool is_coulomb =
        row.kind == RowKind::kFriction && (view.is_in_rebound || traits(step.model).uses_friction);
    double law = view.gamma;
    if (row.kind == RowKind::kLimit)
      check_limit(view, out);
    else if (row.kind == RowKind::kEquality)
      check_equality(view, corrections_[island], out);
    else if (is_coulomb)
      check_coulomb_friction(view, out);
    else
      law = check_law(view, out);
    const bool is_spring = row.kind == RowKind::kSpring;
    add_row_force(problem, row, view.gamma, is_spring ? impulses->spring : impulses->constraint);
    add_row_force(problem, row, law, impulses->by_law);
  }
}

/// Computes the norm of each island's equality corrections. The velocity of an equality may be off
/// by that much: redundant rows have no correction of their own, and a conflict changes the
/// corrections of all rows.
void RigidRowCheck::calc_corrections(const SolvedStep& step) {
  corrections_.assign(step.islands.size(), 0.0);
  for (const Row& row : step.problem.rows) {
    if (row.kind != RowKind::kEquality) continue;
    const double speed = calc_correction(step, row.position);
    corrections_[step.island_of_row(row)] += speed * speed;
  }
  for (double& norm : corrections_) norm = std::sqrt(norm);
}

}  // namespace stiction::certificate
