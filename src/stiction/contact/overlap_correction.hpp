#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::contact {

/// Sets the dissipation of near-rigid contacts that part from a deep overlap, so that an overlap x
/// shrinks at the speed
///
///     min(gap_correction x / dt, max_correction_speed).
///
/// The dissipation d of Hunt and Crossley lets surfaces part at no more than 1/d, which is slow for
/// an overlap that the scene starts with. It is reduced if the surfaces already part at half of
/// this speed and the speed above is larger. No load makes them part so fast, so a contact that
/// rests or is pressed keeps its law, and so does one that closes. Linear dissipation lets them
/// part at x / (dt + tau), which throws bodies apart. It is increased where this exceeds
/// max_correction_speed and tau is at least one time step; bodies with a smaller tau are meant to
/// bounce. Contacts with a stiffness of their own keep their law. The laws stay monotone.
/// Source: [theory:overlaps].
/// @param model a compliant one; otherwise nothing changes
/// @param problem with velocities v0 and contacts, before MomentumFactor::calc_derived
void correct_overlaps(ContactModel model, const ModelParameters& parameters,
                      ContactProblem* problem);

}  // namespace stiction::contact
