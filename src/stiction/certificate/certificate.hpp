#pragma once

#include "stiction/certificate/verdict.hpp"

/// The certificate of a step, as data. certifier.hpp computes it; certificate_fields.hpp lists its
/// fields with their names, units and the rule by which the certificates of two steps merge.
namespace stiction::certificate {

/// The part of a certificate that only rigid models have; all zero for compliant models.
///
/// A contact or limit has an impulse gamma_n, a normal velocity v_n at the end of the step, and a
/// gap speed b. The gap speed is the gap over the time step, or for an overlap minus the speed of
/// its correction.
struct RigidCertificate {
  /// Largest |min(w gamma_n, v_n + b)| of contacts and limits, w being their mobility [m/s].
  double complementarity = 0;
  /// Sum of gamma_n (v_n + b) where it is positive, and of the energy that friction polygons could
  /// still dissipate [J].
  double complementarity_work = 0;
  /// Largest velocity that a sticking contact or an equality should have stopped [m/s, rad/s].
  double constraint_error = 0;
  /// The number of contacts and limits that are active, which means that they have an impulse, and
  /// the number n - rank X that is enough (Theorem 1 of [drumwright2015]). Both are sums over
  /// islands.
  int num_active = 0, max_active = 0;
};

/// The errors of one step's solution, computed from the problem and the solution alone.
///
/// The cost of a convex model is 1/2 |v - v*|_A^2 plus a convex function, so it is strongly convex
/// with modulus 1 in the norm of A, and
///
///     |v - v_exact|_A <= |grad l(v)|_{A^-1}.
///
/// This bounds the error of the solver in one step. It bounds neither the error of the contact
/// model nor that of the time step.
/// Source: [theory:convex-bound].
struct Certificate {
  /// Bound on |v - v_exact|_A in units of the square root of energy [sqrt(J)]; infinite for models
  /// without one.
  double error_bound = 0;
  /// Bound on the error of the relative velocity of any contact point [m/s].
  double velocity_bound = 0;
  /// Bound on |v - v_exact|_A of the trees whose velocities the step took for 0 because they sleep
  /// or fall asleep [sqrt(J)], where v_exact is the velocity of the exact step from the same state.
  /// These trees are no part of error_bound. Sim::Sleep computes it.
  double sleep_bound = 0;
  /// Largest momentum residual of an island, |D grad l|, relative to max(|D p|, |D J^T gamma|), the
  /// impulses that act; see contact::kResolvedMomentum [-].
  double relative_residual = 0;
  /// The same relative to the momentum |D A v| where that is larger, as [castro2023] and Drake
  /// measure it. Steps that `tamsi` divided are left out [-].
  double residual_to_momentum = 0;
  /// Part of relative_residual that is attributed to rounding; 0 where the tolerance is met without
  /// an allowance for it [-].
  double round_off = 0;
  /// Largest difference between the impulses reported and those of the model's laws at v [N s].
  double impulse_error = 0;
  /// Smallest normal impulse reported [N s]. A negative one would be adhesion.
  double min_normal_impulse = 0;
  /// Largest friction impulse, torsion and rolling included, beyond the model's bound [N s]. The
  /// bound is mu gamma_n of the step, or mu gamma_n0 for the lagged models. The excess is at most
  /// round-off.
  double max_cone_excess = 0;
  /// Largest energy that friction of every kind adds at a contact [J]; at most round-off.
  double max_friction_work = 0;
  /// Largest |x - gamma_n|_inf / mean(gamma_n) of an island, where x are the normal impulses that
  /// bound friction and gamma_n those of the step [-]. `coulomb` makes it small. For the lagged
  /// models, whose x are those of the state at the start of the step, it says how far friction is
  /// from Coulomb's law. It is 0 for models whose bound is the impulse of the step. Where the mean
  /// is smaller than the impulse that the tolerance resolves, the latter takes its place.
  double coupling_error = 0;
  /// Energy that contacts and rows add, 1/2 |v|_A^2 - 1/2 |v*|_A^2 [J]. It can be above 0 only
  /// through springs, corrections of positions, moving surfaces, and the dry friction of joints in
  /// a rebound; see energy_check.hpp.
  double energy_gain = 0;
  RigidCertificate rigid;
  /// True if every check passes. Residuals must be within the tolerance or, if arithmetic cannot
  /// resolve the tolerance, within round-off. Impulses must agree with the laws within round-off.
  /// The coupling error is not checked.
  bool ok = true;
  /// The check that fails by most, if not ok.
  FailedCheck failed;
};

}  // namespace stiction::certificate
