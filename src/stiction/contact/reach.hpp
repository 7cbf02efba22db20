#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::contact {

/// From how far a contact acts. A contact at the distance phi0 at the start of a step has an
/// impulse in this step, which ends with normal velocity v_n and slip v_t, only if
///
///     phi0 < T (s |v_t| - v_n) + delta.
struct Reach {
  double time = 0;      // T > 0 [s]
  double slip = 0;      // s >= 0 [-], above 0 where friction lifts what slides
  double distance = 0;  // delta >= 0 [m], above 0 where the normal law acts before bodies touch

  double calc_distance(double normal_velocity, double slip_speed) const {
    return time * (slip * slip_speed - normal_velocity) + distance;
  }
};

/// Finds the reach of one contact under a model: T = dt, s = 0 and delta = 0 but where
///
///     the model lifts what slides    s = mu: its law has z = v_n - mu |v_t| in place of v_n,
///     the model acts ahead           T = dt + tau,
///     its normal law has a reach     T and delta grow by it.
///
/// The caller's own law says itself how far it acts. Source: [castro2023] Table I; [theory:reach].
/// @param parameters normal_law and custom_law are read
/// @param contact    friction, dim and law are read
Reach calc_reach(ContactModel model, const ModelParameters& parameters, double dt,
                 const Contact& contact);

}  // namespace stiction::contact
