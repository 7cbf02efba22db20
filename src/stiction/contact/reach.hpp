#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::contact {

/// The distance from which a contact acts. Let phi0 be the signed distance of a contact at the
/// start of a step, and v_n and v_t its normal velocity and slip at the end. It has an impulse only
/// if
///
///     phi0 < T (s |v_t| - v_n) + delta.
struct Reach {
  double time = 0;      // T > 0 [s]
  double slip = 0;      // s >= 0 [-], above 0 if friction lifts sliding bodies
  double distance = 0;  // delta >= 0 [m], above 0 if the normal law acts before bodies touch

  double calc_distance(double normal_velocity, double slip_speed) const {
    return time * (slip * slip_speed - normal_velocity) + distance;
  }
};

/// Computes the reach of one contact under a model. It is T = dt, s = 0 and delta = 0, except if
///
///     the model lifts sliding bodies    s = mu: its law has z = v_n - mu |v_t| in place of v_n,
///     the model acts ahead              T = dt + tau,
///     the normal law has a reach        T and delta increase by it.
///
/// A custom law has its own reach. Source: [castro2023] Table I; [theory:reach].
/// @param parameters normal_law and custom_law are read
/// @param contact    friction, dim and law are read
Reach calc_reach(ContactModel model, const ModelParameters& parameters, double dt,
                 const Contact& contact);

}  // namespace stiction::contact
