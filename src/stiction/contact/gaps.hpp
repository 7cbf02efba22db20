#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

/// Gaps and overlaps of contacts: touch, reach, and the speed at which overlaps shrink.
namespace stiction::contact {

/// The largest distance at which surfaces touch [m]. Source: [theory:rigid-touch].
inline constexpr double kTouchDistance = 1e-6;

inline bool is_touching(const Contact& contact) { return contact.phi0 <= kTouchDistance; }

/// Returns true if every contact that touches at the start of the step sticks or, under `viscous`,
/// has viscous friction. Returns false if only contacts that press stick.
inline bool holds_all_touching(ContactModel model, const ModelParameters& parameters) {
  return traits(model).tangents == TangentPolicy::kViscous || !parameters.drop_separating;
}

/// True if a contact is an impact, to which restitution applies: at the start of the step it closes
/// faster than the forces of two steps could have caused. A contact at rest therefore does not
/// bounce.
/// @param v_n0     normal velocity at the start of the step [m/s]
/// @param v_n_star normal velocity of the free motion at the end of the step [m/s]
inline bool is_impact(double v_n0, double v_n_star) {
  constexpr double kSlowest = 1e-4;  // [m/s]
  return -v_n0 > std::max(kSlowest, 2 * std::abs(v_n_star - v_n0));
}

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

/// Returns the tolerance of the slips mu_i u_i of a contact over that of a tangential slip, the
/// least of mu_1, mu_2 and, if the size is known, mu_i / size [-]. A contact that bears torsion or
/// rolling then creeps at its rim no faster than it slides. It is at least a thousandth of the
/// largest of them. Source: [theory:elliptic-cone].
double calc_slip_scale(const Contact& contact);

using StiffnessMember = double ContactLawData<double>::*;

/// Returns the stiffness that resists overlaps under a compliant model. It is infinite in
/// near-rigid contacts.
StiffnessMember find_stiffness(ContactModel model, const ModelParameters& parameters);

/// Sets the dissipation of near-rigid contacts that part from a deep overlap, so that an overlap x
/// shrinks at the speed
///
///     min(gap_correction x / dt, max_correction_speed).
///
/// The dissipation d of Hunt and Crossley lets surfaces part at no more than 1/d, which is slow for
/// an overlap that the scene starts with. It is reduced if the surfaces already part at half of
/// this speed and the speed above is larger. No load makes them part so fast, so a contact that
/// rests or is pressed keeps its law, and so does one that closes. Contacts with a stiffness of
/// their own keep their law. The laws stay monotone.
/// Source: [theory:overlaps].
/// @param model a compliant one; otherwise nothing changes
/// @param problem with velocities v0 and contacts, before MomentumFactor::calc_derived
void correct_overlaps(ContactModel model, const ModelParameters& parameters,
                      ContactProblem* problem);

}  // namespace stiction::contact
