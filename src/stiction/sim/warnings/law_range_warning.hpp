#pragma once

#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Warns of the contact that is farthest beyond the tables of a TabulatedLaw at the end of a step:
/// deeper than its last penetration, or faster than its last rate. The law continues there along
/// its tangent, which the tables do not confirm.
/// @param time_step of the contact problem [s]; the report has its contacts
void warn_of_law_range(const StepInputs& in, double time_step, StepOutputs* out);

}  // namespace stiction::sim
