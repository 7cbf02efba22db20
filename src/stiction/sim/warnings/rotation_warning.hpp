#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Warns if a body or a joint turns by more than half a turn in the step. A step takes the forces
/// that depend on angles and on turning speeds, gyroscopic forces among them, at its start, so they
/// are not resolved then and may add any energy. Near a gimbal lock two hinges turn that fast
/// against each other with hardly any energy, which no check of the certificate sees.
/// @param data at the end of the step
void warn_of_rotation(const StepInputs& in, const mjData* data, StepOutputs* out);

}  // namespace stiction::sim
