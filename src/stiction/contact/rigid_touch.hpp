#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

/// What rigid models mean by a touch and by an impact.
namespace stiction::contact {

/// Surfaces touch below this distance [m]. Source: [theory:rigid-touch].
inline constexpr double kTouchDistance = 1e-6;

inline bool is_touching(const Contact& contact) { return contact.phi0 <= kTouchDistance; }

/// Returns true if every contact that touches when the step begins sticks (or is viscous), and
/// false if only those that press do.
inline bool holds_all_touching(ContactModel model, const ModelParameters& parameters) {
  return traits(model).tangents == TangentPolicy::kViscous || !parameters.drop_separating;
}

/// A contact hits, so that its restitution counts, if it closes faster when the step begins than
/// the forces of two steps could have made it: what rests does not bounce.
/// @param v_n0     normal velocity at the start of the step [m/s]
/// @param v_n_star the same in free motion at its end [m/s]
inline bool is_impact(double v_n0, double v_n_star) {
  constexpr double kSlowest = 1e-4;  // [m/s]
  return -v_n0 > std::max(kSlowest, 2 * std::abs(v_n_star - v_n0));
}

}  // namespace stiction::contact
