#pragma once

#include <tuple>

#include "stiction/certificate/certificate.hpp"

/// The fields of a certificate, listed once. Merging, scaling and the Python attributes follow from
/// this list, and a test compares the table of docs/certificates.md with it.
namespace stiction::certificate {

/// The rule by which the values of two steps become one.
enum class Merge { kLarger, kSmaller, kBoth };

/// One field of a certificate.
template <class T>
struct Field {
  const char* name = "";
  const char* unit = "";     // "-" for a number without one
  const char* meaning = "";  // without a full stop
  Merge merge = Merge::kLarger;
  /// The power p of time in the conversion from accelerations: a value computed for accelerations,
  /// times h^p, is the value for the velocities that they make over a time h.
  int scale_power = 0;
  // Where the value is; one of the two is null.
  T Certificate::*member = nullptr;
  T RigidCertificate::*rigid_member = nullptr;

  const T& in(const Certificate& c) const { return member ? c.*member : c.rigid.*rigid_member; }
  T& in(Certificate& c) const { return member ? c.*member : c.rigid.*rigid_member; }
};

/// All fields except `failed`, in the order of the tables.
inline constexpr std::tuple kFields{
    Field<double>{.name = "error_bound",
                  .unit = "sqrt(J)",
                  .meaning = "Bound on the solver's error of the velocities, |v - v_exact|_A; "
                             "infinite for models without one: 'tamsi' and the rigid models with "
                             "Coulomb friction",
                  .scale_power = 1,
                  .member = &Certificate::error_bound},
    Field<double>{.name = "velocity_bound",
                  .unit = "m/s",
                  .meaning =
                      "Bound on the solver's error of any contact point's relative velocity; "
                      "infinite where error_bound is",
                  .scale_power = 1,
                  .member = &Certificate::velocity_bound},
    Field<double>{.name = "sleep_bound",
                  .unit = "sqrt(J)",
                  .meaning = "Bound on the error of taking 0 for the velocities of sleeping trees, "
                             "|v_exact|_A; infinite where error_bound is",
                  .scale_power = 1,
                  .member = &Certificate::sleep_bound},
    Field<double>{.name = "relative_residual",
                  .unit = "-",
                  .meaning = "Momentum residual relative to the impulses that act, worst island",
                  .member = &Certificate::relative_residual},
    Field<double>{.name = "residual_to_momentum",
                  .unit = "-",
                  .meaning = "Momentum residual relative to the momentum where that is larger, as "
                             "[castro2023] and Drake measure it",
                  .member = &Certificate::residual_to_momentum},
    Field<double>{.name = "round_off",
                  .unit = "-",
                  .meaning =
                      "Part of relative_residual that is attributed to rounding; 0 where the "
                      "tolerance is met without it",
                  .member = &Certificate::round_off},
    Field<double>{
        .name = "impulse_error",
        .unit = "N s",
        .meaning = "Largest difference between the impulses reported and the model's laws",
        .scale_power = 1,
        .member = &Certificate::impulse_error},
    Field<double>{.name = "min_normal_impulse",
                  .unit = "N s",
                  .meaning = "Smallest normal impulse; a negative one would be adhesion",
                  .merge = Merge::kSmaller,
                  .scale_power = 1,
                  .member = &Certificate::min_normal_impulse},
    Field<double>{.name = "max_cone_excess",
                  .unit = "N s",
                  .meaning = "Largest friction impulse beyond the model's bound",
                  .scale_power = 1,
                  .member = &Certificate::max_cone_excess},
    Field<double>{.name = "max_friction_work",
                  .unit = "J",
                  .meaning = "Largest energy that friction adds at a contact",
                  .scale_power = 2,
                  .member = &Certificate::max_friction_work},
    Field<double>{.name = "coupling_error",
                  .unit = "-",
                  .meaning =
                      "Difference between the normal impulses that bound friction and those of the "
                      "step, relative to their mean, worst island; 'coulomb' makes it small",
                  .member = &Certificate::coupling_error},
    Field<double>{.name = "energy_gain",
                  .unit = "J",
                  .meaning = "Energy that contacts and rows add; above 0 only through springs, "
                             "corrections of positions, moving surfaces, and the dry friction of "
                             "joints in a rebound",
                  .scale_power = 2,
                  .member = &Certificate::energy_gain},
    Field<double>{
        .name = "complementarity",
        .unit = "m/s",
        .meaning = "Rigid models: largest |min(w gamma_n, v_n + b)| of a contact or limit",
        .scale_power = 1,
        .rigid_member = &RigidCertificate::complementarity},
    Field<double>{.name = "complementarity_work",
                  .unit = "J",
                  .meaning =
                      "Rigid models: sum of the impulses times the velocities that should be "
                      "zero where an impulse acts",
                  .scale_power = 2,
                  .rigid_member = &RigidCertificate::complementarity_work},
    Field<double>{.name = "constraint_error",
                  .unit = "m/s, rad/s",
                  .meaning =
                      "Rigid models: largest velocity that a sticking contact or an equality "
                      "should have stopped",
                  .scale_power = 1,
                  .rigid_member = &RigidCertificate::constraint_error},
    Field<int>{.name = "num_active",
               .unit = "-",
               .meaning = "Rigid models: number of contacts and limits with an impulse",
               .rigid_member = &RigidCertificate::num_active},
    Field<int>{.name = "max_active",
               .unit = "-",
               .meaning = "Rigid models: number of active contacts and limits that is enough, the "
                          "number of dofs minus the rank of the bilateral rows",
               .rigid_member = &RigidCertificate::max_active},
    Field<bool>{.name = "ok",
                .meaning = "True if every check passes; the coupling error is not checked",
                .merge = Merge::kBoth,
                .member = &Certificate::ok}};

/// Calls visit(field) for each entry of kFields.
template <class Visitor>
void for_each_field(Visitor&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, kFields);
}

/// Merges a step's certificate into that of the steps before it, field by field. The result has
/// the worst value of each field.
void keep_worst(const Certificate& step, Certificate* worst);

/// Converts the certificate of accelerations to that of the velocities which they make over a time.
/// @param duration h >= 0 [s]
void scale_to_velocities(double duration, Certificate* certificate);

}  // namespace stiction::certificate
