#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::contact {

/// From how far a contact acts. One at distance phi0 when the step begins has an impulse in a step
/// that ends with normal velocity v_n and slip v_t only if
///
///     phi0 < T (s |v_t| - v_n) + delta.
struct Reach {
  double time = 0;      // T > 0 [s]
  double slip = 0;      // s >= 0 [-]: of models whose friction lifts what slides
  double distance = 0;  // delta >= 0 [m]: of normal laws that act before bodies touch

  double calc_distance(double normal_velocity, double slip_speed) const {
    return time * (slip * slip_speed - normal_velocity) + distance;
  }
};

/// The reach of one contact under a model: T = dt and s = 0, but for
///
///     similar   s = mu              z = v_n - mu |v_t| in place of v_n,
///     sap       s = mu, T = dt + tau,
///     linear    T = dt + tau         normal laws of models that take them
///     barriers  delta = d            the thickness; of the logarithmic one, which acts at any
///                                    distance, a thousand of it, where its force is k d / 1000.
///
/// A law of the caller's says itself how far it acts. Source: [castro2023] Table I;
/// [theory:reach].
/// @param parameters of which the normal law is read
/// @param contact    of which friction, dim, relaxation_time and barrier_thickness are read
Reach calc_reach(ContactModel model, const ModelParameters& parameters, double dt,
                 const Contact& contact);

}  // namespace stiction::contact
