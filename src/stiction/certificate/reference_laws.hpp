#pragma once

#include <array>
#include <optional>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

/// The certificate's own contact laws, written from the papers as plain formulas on arrays.
namespace stiction::certificate {

using contact::Contact;
using contact::ContactModel;
using contact::ModelParameters;
using contact::Row;

/// Components t1, t2, n, then angular n, t1, t2, as in ContactSolution::impulses.
using ContactVector = std::array<double, 6>;

/// The state that a contact's law reads besides the contact's properties.
struct ContactState {
  double time_step = 0;    // [s]
  double w = 0;            // Delassus size of the contact [1/kg]
  double v_n0 = 0;         // normal velocity at the start of the step [m/s]
  double given_bound = 0;  // normal impulse x of the solution that bounds friction; `coulomb` [N s]
  /// ContactProblem::lagged_impulse; the lagged models [N s].
  std::optional<double> lagged_impulse = {};
  const contact::Anchor* anchor = nullptr;  // of the friction law `elastic`; null: another law
};

/// An impulse that a law prescribes.
struct ReferenceImpulse {
  ContactVector gamma{};
  /// The friction bound per mu [N s]: gamma_n0 of lagged models, x of `coulomb`, gamma_n of others.
  double normal_bound = 0;
};

/// Evaluates the law of a compliant model. The result is zero for `mujoco` and for rigid models,
/// which have no law of a single contact.
/// @param v_c relative velocity in the contact frame at the end of the step [m/s, rad/s]
ReferenceImpulse calc_reference_impulse(ContactModel model, const ModelParameters& parameters,
                                        const Contact& contact, const ContactState& state,
                                        const ContactVector& v_c);

/// Computes the energy that friction of every kind adds at a contact [J].
double calc_friction_work(const ContactVector& gamma, const ContactVector& v_c);

/// Computes what friction adds to the energy of a contact that sticks by a spring, beyond what the
/// spring loses [J],
///
///     U+ - U + gamma . v_c,   U = 1/2 sum k_i u_i^2.
///
/// The law makes it at most 0. The stretch u+ at the end of the step follows from the impulse by
/// return mapping. A bound on the rounding error is subtracted. Source: [theory:anchors].
double calc_anchor_gain(const Contact& contact, const contact::Anchor& anchor, double time_step,
                        const ContactVector& gamma, const ContactVector& v_c);

/// Computes the energy that a contact may add [J]: by a spring, and by a moving surface.
double calc_gain(const Contact& contact, const ContactVector& gamma, const ContactVector& v_c);

/// Computes the same for the dry friction of a joint or tendon under `elastic` [J].
double calc_dry_spring_gain(const Row& row, double time_step, double gamma, double v_r);

/// Evaluates the impulse of a scalar row at v_r = J v + b.
double calc_reference_row_impulse(const Row& row, double v_r);

/// Computes the energy that a row may add [J]: by a spring, and by the body that drives it.
double calc_row_gain(const Row& row, double gamma, double v_r);

}  // namespace stiction::certificate
