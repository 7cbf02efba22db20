#pragma once

#include <array>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

/// The contact laws a second time, as the papers write them, for the certificate: plain formulas on
/// plain arrays, sharing nothing with the solver's. Slow is fine; equal code is not.
namespace stiction::certificate {

using contact::Contact;
using contact::ContactModel;
using contact::ModelParameters;
using contact::Row;

/// Components t1, t2, n, then angular n, t1, t2, as ContactSolution::impulses.
using ContactVector = std::array<double, 6>;

struct ReferenceImpulse {
  ContactVector gamma{};
  /// The friction bound per unit of mu: gamma_n0 for the lagged models, gamma_n for the others [N
  /// s].
  double normal_bound = 0;
};

/// @param v_c   relative velocity at the end of the step, in C
/// @param v_n0  normal velocity at the start of the step [m/s]
/// @param w     Delassus size of the contact [1/kg]
/// @param given_bound  normal impulse x that bounds the friction of `coulomb`, the solution's own
///                     [N s]; other models find theirs
ReferenceImpulse calc_reference_impulse(ContactModel model, const ModelParameters& parameters,
                                        const Contact& contact, double time_step, double w,
                                        double v_n0, const ContactVector& v_c,
                                        double given_bound = 0);

/// Energy that friction of every kind puts into a contact [J].
double calc_friction_work(const ContactVector& gamma, const ContactVector& v_c);

/// Impulse of a scalar row at v_r = J v.
double calc_reference_row_impulse(const Row& row, double v_r);

}  // namespace stiction::certificate
