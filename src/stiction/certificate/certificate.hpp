#pragma once

#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>

namespace stiction::certificate {

/// A quantity that exceeds its limit.
struct FailedCheck {
  const char* quantity = "";  // a string literal, as is the unit
  double value = 0, limit = 0;
  const char* unit = "";
};

/// Collects checks and keeps the one that fails by the largest factor.
class Verdict {
 public:
  /// Checks that value <= limit. A value or limit that is NaN fails by an infinite factor.
  void require(const char* quantity, double value, double limit, const char* unit) {
    if (value <= limit) return;
    const double excess =
        limit > 0 && !std::isnan(value) ? value / limit : std::numeric_limits<double>::infinity();
    if (!ok() && !(excess > excess_)) return;
    excess_ = excess;
    failed_ = {.quantity = quantity, .value = value, .limit = limit, .unit = unit};
  }

  /// True if every check so far has passed.
  bool ok() const { return !(excess_ > 0); }
  /// The check that fails by most, if not ok().
  const FailedCheck& failed() const { return failed_; }

 private:
  double excess_ = 0;
  FailedCheck failed_;
};

/// The part of a certificate that only rigid models have; all zero for compliant models.
///
/// A contact or limit has an impulse gamma_n, a normal velocity v_n at the end of the step, and a
/// gap speed b. The gap speed is the gap over the time step, or for an overlap minus the speed of
/// its correction.
struct RigidCertificate {
  /// Largest |min(w gamma_n, v_n + b)| of contacts and limits, w being their mobility [m/s].
  double complementarity = 0;
  /// Sum of gamma_n (v_n + b) where positive, and what friction polygons could still dissipate [J].
  double complementarity_work = 0;
  /// Largest velocity that a sticking contact or an equality should have stopped [m/s, rad/s].
  double constraint_error = 0;
  /// The number of active contacts and limits, which have an impulse, and the number n - rank X
  /// that is enough (Theorem 1 of [drumwright2015]), summed over islands.
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
  /// Bound on |v - v_exact|_A [sqrt(J)]; infinite for models without one.
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
  /// Part of relative_residual attributed to rounding; 0 where no allowance is needed [-].
  double round_off = 0;
  /// Largest difference between the impulses reported and those of the model's laws at v [N s].
  double impulse_error = 0;
  /// Smallest normal impulse reported [N s]. A negative one would be adhesion.
  double min_normal_impulse = 0;
  /// Largest friction impulse, with torsion and rolling, beyond the model's bound [N s]: mu gamma_n
  /// of the step or of the lagged models. At most round-off.
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
  /// a rebound; see Energy.
  double energy_gain = 0;
  RigidCertificate rigid;
  /// True if every check passes: residuals within the tolerance or round-off, and impulses that
  /// agree with the laws within round-off. The coupling error is not checked.
  bool ok = true;
  /// The check that fails by most, if not ok.
  FailedCheck failed;
};

// The fields of a certificate, listed once. Merging, scaling and the Python attributes follow from
// this list, and a test compares the table of docs/certificates.md with it.

/// The rule by which the values of two steps become one.
enum class Merge { kLarger, kSmaller, kBoth };

/// One field of a certificate, of type T, which is a member of Certificate or RigidCertificate.
template <class T, class Owner>
struct Field {
  const char* name;
  const char* unit;  // "-" for a number without one
  Merge merge;
  /// The power p of time in the conversion from accelerations: a value computed for accelerations,
  /// times h^p, is the value for the velocities that they make over a time h.
  int scale_power;
  T Owner::*member;
  const char* meaning;  // without a full stop

  template <class Anything>
  auto& in(Anything& c) const {
    if constexpr (std::is_same_v<Owner, RigidCertificate>)
      return c.rigid.*member;
    else
      return c.*member;
  }
};
template <class T, class Owner>
Field(const char*, const char*, Merge, int, T Owner::*, const char*) -> Field<T, Owner>;

/// All fields except `failed`, in the order of the tables.
inline constexpr std::tuple kFields{
    Field{"error_bound", "sqrt(J)", Merge::kLarger, 1, &Certificate::error_bound,
          "Bound on the solver's error of the velocities, |v - v_exact|_A; infinite for models "
          "without one: 'tamsi' and the rigid models with Coulomb friction"},
    Field{"velocity_bound", "m/s", Merge::kLarger, 1, &Certificate::velocity_bound,
          "Bound on the solver's error of any contact point's relative velocity; infinite where "
          "error_bound is"},
    Field{"sleep_bound", "sqrt(J)", Merge::kLarger, 1, &Certificate::sleep_bound,
          "Bound on the error of taking 0 for the velocities of sleeping trees, |v_exact|_A; "
          "infinite where error_bound is"},
    Field{"relative_residual", "-", Merge::kLarger, 0, &Certificate::relative_residual,
          "Momentum residual relative to the impulses that act, worst island"},
    Field{"residual_to_momentum", "-", Merge::kLarger, 0, &Certificate::residual_to_momentum,
          "Momentum residual relative to the momentum where that is larger, as [castro2023] and "
          "Drake measure it"},
    Field{"round_off", "-", Merge::kLarger, 0, &Certificate::round_off,
          "Part of relative_residual that is attributed to rounding; 0 where the tolerance is "
          "met without it"},
    Field{"impulse_error", "N s", Merge::kLarger, 1, &Certificate::impulse_error,
          "Largest difference between the impulses reported and the model's laws"},
    Field{"min_normal_impulse", "N s", Merge::kSmaller, 1, &Certificate::min_normal_impulse,
          "Smallest normal impulse; a negative one would be adhesion"},
    Field{"max_cone_excess", "N s", Merge::kLarger, 1, &Certificate::max_cone_excess,
          "Largest friction impulse beyond the model's bound"},
    Field{"max_friction_work", "J", Merge::kLarger, 2, &Certificate::max_friction_work,
          "Largest energy that friction adds at a contact"},
    Field{"coupling_error", "-", Merge::kLarger, 0, &Certificate::coupling_error,
          "Difference between the normal impulses that bound friction and those of the step, "
          "relative to their mean, worst island; 'coulomb' makes it small"},
    Field{"energy_gain", "J", Merge::kLarger, 2, &Certificate::energy_gain,
          "Energy that contacts and rows add; above 0 only through springs, corrections of "
          "positions, moving surfaces, and the dry friction of joints in a rebound"},
    Field{"complementarity", "m/s", Merge::kLarger, 1, &RigidCertificate::complementarity,
          "Rigid models: largest |min(w gamma_n, v_n + b)| of a contact or limit"},
    Field{"complementarity_work", "J", Merge::kLarger, 2, &RigidCertificate::complementarity_work,
          "Rigid models: sum of the impulses times the velocities that should be zero where an "
          "impulse acts"},
    Field{"constraint_error", "m/s, rad/s", Merge::kLarger, 1, &RigidCertificate::constraint_error,
          "Rigid models: largest velocity that a sticking contact or an equality should have "
          "stopped"},
    Field{"num_active", "-", Merge::kLarger, 0, &RigidCertificate::num_active,
          "Rigid models: number of contacts and limits with an impulse"},
    Field{"max_active", "-", Merge::kLarger, 0, &RigidCertificate::max_active,
          "Rigid models: number of active contacts and limits that is enough, the number of dofs "
          "minus the rank of the bilateral rows"},
    Field{"ok", "", Merge::kBoth, 0, &Certificate::ok,
          "True if every check passes; the coupling error is not checked"}};

/// Calls visit(field) for each entry of kFields.
template <class Visitor>
void for_each_field(Visitor&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, kFields);
}

/// Merges a step's certificate into that of the steps before it: the worst of each field.
void keep_worst(const Certificate& step, Certificate* worst);

/// Converts the certificate of accelerations to that of the velocities which they make over a time.
/// @param duration h >= 0 [s]
void scale_to_velocities(double duration, Certificate* certificate);

}  // namespace stiction::certificate
