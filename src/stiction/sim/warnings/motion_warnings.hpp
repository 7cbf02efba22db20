#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/memory/warning_memory.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

/// Warnings of the motion of joints and bodies in a step.
namespace stiction::sim {

/// Warns of a mocap body whose displacement before the step is not explained by its velocity in the
/// step, by kTooDeep of the thickness of its geoms or more, if this matters: it overlaps others, or
/// an equality of a rigid model must follow it. Those are moved no faster than
/// max_correction_speed, as if the mocap body had always been there.
void warn_of_jumps(const StepInputs& in, const mjData* data, StepOutputs* out);

/// Warns if a body or a joint turns by more than half a turn in the step. A step takes the forces
/// that depend on angles and on turning speeds, gyroscopic forces among them, at its start, so they
/// are not resolved then and may add any energy. Near a gimbal lock two hinges turn that fast
/// against each other with hardly any energy, which no check of the certificate sees.
/// @param data at the end of the step
void warn_of_rotation(const StepInputs& in, const mjData* data, StepOutputs* out);

/// Warns of the limits of joints and tendons that a step of a rigid model violates; see
/// LimitMemory. Compliant models have springs there, as MuJoCo has, and give no warning.
/// @param data at the end of the step
void warn_of_limits(const StepInputs& in, const mjData* data, LimitMemory* limits,
                    StepOutputs* out);

}  // namespace stiction::sim
