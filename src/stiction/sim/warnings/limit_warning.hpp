#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/memory/warning_memory.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Warns of the limits of joints and tendons that a step of a rigid model violates; see
/// LimitMemory. Compliant models have springs there, as MuJoCo has, and give no warning.
/// @param data at the end of the step
void warn_of_limits(const StepInputs& in, const mjData* data, LimitMemory* limits,
                    StepOutputs* out);

}  // namespace stiction::sim
