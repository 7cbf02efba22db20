#pragma once

#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// A contact that lets geoms overlap by this share of the thinner one's thickness is too soft.
inline constexpr double kTooDeep = 0.1;

/// Warns if a contact point lets two geoms sink into each other during the step until they overlap
/// by more than kTooDeep of the thickness of the thinner geom:
///
///     phi_0 > -h >= phi_0 + dt v_n,   h = kTooDeep thickness.
///
/// Then a body is squeezed flat or passes through another one. This happens where a contact's
/// stiffness is small for its load or speed, for example at the limit of `sap`. Overlaps that were
/// as deep at the start of the step give no warning, unless a geom is part of a mocap body, whose
/// pose may jump through others. The thickness of a geom is
/// the smallest side of its bounding box; planes and height fields have none. Patches have warnings
/// of their own.
/// @param time_step of the contact problem [s]; the report has its contacts
void warn_of_penetration(StepContext& context, double time_step);

}  // namespace stiction::sim
