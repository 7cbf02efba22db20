#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Warns of a mocap body whose displacement before the step is not explained by its velocity in the
/// step, by kTooDeep of the thickness of its geoms or more, if this matters: it overlaps others, or
/// an equality of a rigid model must follow it. Those are moved no faster than
/// max_correction_speed, as if the mocap body had always been there.
void warn_of_jumps(const StepInputs& in, const mjData* data, StepOutputs* out);

}  // namespace stiction::sim
