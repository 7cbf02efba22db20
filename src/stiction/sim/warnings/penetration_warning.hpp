#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/memory/warning_memory.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Records the contact points of a step, or of a part of it, by which two geoms overlap, in
/// context.penetration. Patches have warnings of their own.
/// @param time_step of the contact problem [s]; the report has its contacts
void record_penetration(const mjModel* m, const ContactReport& contacts, double time_step,
                        PenetrationMemory* penetration);

/// Warns of the pairs of geoms that have got deep in this step; see PenetrationMemory. Then a body
/// is squeezed flat or passes through another one. This happens where a contact's stiffness is
/// small for its load or speed, for example at the limit of `sap`, and where a fast body turns its
/// edge past the contact points that the step knew. Call it after all parts of the step.
void warn_of_penetration(const StepInputs& in, PenetrationMemory* penetration, StepOutputs* out);

}  // namespace stiction::sim
