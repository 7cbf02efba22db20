#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// True if engine plugins compute forces. These may depend on the time step, as those of mujoco.pid
/// with a limited slew rate do, so that steps of two lengths cannot share them.
bool has_force_plugins(const mjModel* model);

/// Warns of engine plugins with a state of their own. It is stepped with each half of a step and
/// restored after a rejected one, but no error of it is known, so it does not shorten a step.
void warn_of_plugin_state(StepContext& context);

}  // namespace stiction::sim
