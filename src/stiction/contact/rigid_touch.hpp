#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

/// The definitions of touching and of an impact for rigid models.
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

}  // namespace stiction::contact
