#include "stiction/certificate/rigid_certifier.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/certificate/impulse_check.hpp"
#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::kInfinity;
using contact::Row;
using contact::traits;

namespace {

/// Returns the speed with which the surfaces of a contact may drive bodies [m/s].
double calc_surface_speed(const Contact& c) { return math::hypot(c.bias[0], c.bias[1], c.bias[2]); }

/// Returns the speed with which the overlap of a contact may drive bodies apart [m/s].
double calc_correction_speed(const SolvedStep& step, const Contact& c) {
  return c.phi0 < 0 ? -calc_gap_speed(c.phi0, step.problem.time_step, step.parameters) : 0;
}

/// Returns the speed of a row's correction [m/s, rad/s].
double calc_correction_speed(const SolvedStep& step, const Row& row) {
  const bool corrects = row.kind == contact::RowKind::kEquality ||
                        (row.kind == contact::RowKind::kLimit && row.position < 0);
  const double error = std::abs(row.position);
  return corrects ? -calc_gap_speed(-error, step.problem.time_step, step.parameters) : 0;
}

/// Returns the sum of the masses of a pair's bodies without the world [kg].
double calc_mass(const BodyPair& pair) {
  const auto [a, b] = pair.masses;
  if (a == kInfinity) return b;
  return b == kInfinity ? a : a + b;
}

/// Returns the largest energy that corrections of positions and moving surfaces may add in a step
/// of a rigid model [J].
///
/// In an island, let c be the largest speed of a correction or surface, and m the sum of the masses
/// of its bodies, to which dampers and springs do not add. The bodies then need at most the energy
/// m c^2 / 2, unless levers or wedges make them move faster than c. A ratio of 60 is allowed.
/// Constraints that nearly contradict each other exceed it: they throw bodies apart. The result is
/// infinite if a pair with a correction has no masses. Source: [theory:energy-check].
double calc_driving_energy(const SolvedStep& step) {
  // The solver allows three times the speed of each overlap; the rest is for equalities.
  constexpr double kOverlapRatio = 4.5;
  // Moving surfaces, limits and equalities; bodies wedged on rough ground reach 47.
  constexpr double kRatio = 60;
  const contact::ContactProblem& problem = step.problem;
  double energy = 0;
  for (int island = 0; island < step.islands.size(); ++island) {
    double speed = 0, mass = 0;
    for (const int p : step.islands.pairs(island)) {
      const BodyPair& pair = problem.pairs[p];
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        const double c = kOverlapRatio * calc_correction_speed(step, problem.contacts[i]);
        if (c > 0) energy += 0.5 * pair.reduced_mass() * c * c;  // the mass may be infinite
        speed = std::max(speed, calc_surface_speed(problem.contacts[i]));
      }
      mass += calc_mass(pair);
    }
    for (const int r : step.islands.rows(island)) {
      const Row& row = problem.rows[r];
      const double row_speed = calc_correction_speed(step, row);
      if (row_speed == 0) continue;
      speed = std::max(speed, row_speed);
      const double mobility = calc_inertial_mobility(problem, step.islands, row);
      if (mobility > 0) mass += 1 / mobility;
    }
    if (speed > 0) energy += 0.5 * mass * kRatio * kRatio * speed * speed;
  }
  return energy;
}

/// Returns the tolerance of velocities [m/s]. The solver drops rows within 3e-7 of the span of the
/// others, and such a row may keep that share of its velocity. Lemke's method, which solves
/// polygons, is accurate to 1e-8 of the numbers in its problem.
double calc_speed_tolerance(const SolvedStep& step, const RigidFindings& findings) {
  const bool has_polygons = traits(step.model).options.friction_directions;
  const double size = has_polygons ? std::max(1.0, findings.max_mobility) : 1;
  return 1e-6 * findings.speed * size;
}

/// Returns the largest momentum that a surface or a driven row sees at rest [N s, N m s].
double calc_seen_momentum(const SolvedStep& step) {
  const contact::ContactProblem& problem = step.problem;
  double momentum = 0;
  for (const BodyPair& pair : problem.pairs) {
    const double mass = pair.reduced_mass();
    if (!std::isfinite(mass)) continue;
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const auto& b = problem.contacts[i].bias;
      grow(mass * math::hypot(b[0], b[1], b[2]), &momentum);
    }
  }
  for (const Row& row : problem.rows) {
    if (row.bias == 0) continue;
    const double mobility = calc_row_mobility(problem, step.islands, row);
    if (mobility > 0) grow(std::abs(row.bias) / mobility, &momentum);
  }
  return momentum;
}

/// Returns the scale of the tolerance of impulses, the largest impulse [N s]. It is at least 1e-6
/// of the momentum, because impulses far below the momentum are rounding errors. A moving surface
/// sees a resting body move, so the scale does not depend on the frame.
double calc_impulse_scale(const SolvedStep& step, const RigidFindings& findings,
                          std::span<const double> momentum) {
  constexpr double kShare = 1e-6;
  double scale = std::max(findings.impulse, kShare * calc_seen_momentum(step));
  for (const double p : momentum) grow(kShare * std::abs(p), &scale);
  return std::max(scale, 1e-12);
}

/// Returns the energy that errors of velocities within their tolerance may add [J]. With
/// A (v - v*) = J^T gamma the gain is gamma^T J v - |v - v*|_A^2 / 2, so each impulse adds at most
/// its product with the error of its velocity. Extremely large impulses would allow any gain, so
/// that a share of the kinetic energy is the limit.
double calc_tolerated_energy(const SolvedStep& step, const RigidFindings& findings,
                             const Energy& energy) {
  constexpr double kLargestShare = 0.01;
  return std::min(calc_speed_tolerance(step, findings) * findings.sum_of_impulses,
                  kLargestShare * energy.kinetic);
}

void judge(const SolvedStep& step, const BalanceCheck& balance, const RigidFindings& findings,
           Verdict* verdict) {
  const Certificate& c = findings.certificate;
  const double speed_tolerance = calc_speed_tolerance(step, findings);
  const double impulse_scale = calc_impulse_scale(step, findings, balance.momentum());
  judge_impulses(c, findings.is_finite,
                 std::max(1e-9, 0.1 * step.relative_tolerance) * impulse_scale, verdict);
  verdict->require("positive work of friction", c.max_friction_work,
                   speed_tolerance * impulse_scale, "J");
  verdict->require("velocity of sticking contacts or equalities", c.rigid.constraint_error,
                   speed_tolerance, "m/s");
  // Under least energy, impulses are not complementary to velocities, but contacts must not close.
  if (traits(step.model).tangents == contact::TangentPolicy::kLeastEnergy)
    verdict->require("penetration velocity", findings.closing_speed, speed_tolerance, "m/s");
  else
    verdict->require("complementarity violation", c.rigid.complementarity, speed_tolerance, "m/s");
}

}  // namespace

Certificate RigidCertifier::certify(const SolvedStep& step, contact::MomentumFactor* factor,
                                    GeneralizedImpulses* impulses, BalanceCheck* balance) {
  RigidFindings findings;
  Certificate& out = findings.certificate;
  rebounds_.find(step);
  contacts_.calc(step, rebounds_, impulses, &findings);
  rows_.calc(step, rebounds_, impulses, &findings);
  balance->calc(step, *impulses);

  Verdict verdict = judge_sums(step, *impulses, *balance, &findings);
  count_active(step, &verdict, &out.rigid);
  judge(step, *balance, findings, &verdict);
  out.ok = verdict.ok();
  out.failed = verdict.failed();
  calc_bounds(step, factor, *balance, &findings);
  return out;
}

/// Judges momentum and energy, and writes their entries; once more for rounding if one fails.
Verdict RigidCertifier::judge_sums(const SolvedStep& step, const GeneralizedImpulses& impulses,
                                   const BalanceCheck& balance, RigidFindings* findings) {
  Certificate& out = findings->certificate;
  const Energy energy = calc_energy(step, balance);
  out.energy_gain = energy.gain;
  const double explained = findings->energy_gain + calc_driving_energy(step) +
                           calc_tolerated_energy(step, *findings, energy);
  const auto judge_with = [&](const RoundOff* rounding) {
    BalanceCheck::Result momentum;
    balance.judge(step, impulses, rounding, &momentum);
    out.relative_residual = momentum.relative_residual;
    out.residual_to_momentum = momentum.residual_to_momentum;
    out.round_off = momentum.round_off;
    if (step.has_energy)
      judge_energy(energy, explained, rounding ? calc_energy_rounding(step, *rounding) : 0,
                   &momentum.verdict);
    return momentum.verdict;
  };
  const Verdict verdict = judge_with(nullptr);
  if (verdict.ok() || !findings->is_finite) return verdict;
  round_off_.calc_sums(step);
  return judge_with(&round_off_);
}

/// Counts the active contacts and limits, and checks that there are not too many.
void RigidCertifier::count_active(const SolvedStep& step, Verdict* verdict, RigidCertificate* out) {
  for (int island = 0; island < step.islands.size(); ++island) {
    const ActiveSet::Count count = active_set_.count(step, contacts_, island);
    out->num_active += count.num_active;
    out->max_active += count.max_active;
    // The theorem holds for the projections of models with an error bound, in a single phase.
    if (traits(step.model).has_error_bound && !rebounds_.in_island(island))
      verdict->require("number of active contacts", count.num_active, count.max_active, "");
  }
}

/// Writes the bounds on the errors of the velocities, and the work that they follow from.
void RigidCertifier::calc_bounds(const SolvedStep& step, contact::MomentumFactor* factor,
                                 const BalanceCheck& balance, RigidFindings* findings) {
  Certificate& out = findings->certificate;
  out.rigid.complementarity_work = findings->complementarity;
  out.error_bound = out.velocity_bound = kInfinity;
  if (!traits(step.model).has_error_bound || rebounds_.is_any()) return;
  dual_shares_.resize(step.problem.num_blocks());
  factor->calc_squared_norms(balance.residual(), dual_shares_);
  double r2 = 0;
  for (const double share : dual_shares_) r2 += share;
  out.error_bound =
      std::sqrt(r2) + std::sqrt(std::max(0.0, findings->complementarity) + 2 * findings->violation);
  out.velocity_bound = std::sqrt(3 * findings->max_mobility) * out.error_bound;
}

}  // namespace stiction::certificate
