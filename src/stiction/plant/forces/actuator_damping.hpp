#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Returns -df/dv of an actuator's force at its velocity, where MuJoCo's integrator implicitfast
/// takes it, of the gain of muscles and of DC motors; 0 for all other types [N s/m or N m s/rad].
/// @param input the control or activation that multiplies the gain
double calc_special_damping(const mjModel* model, const mjData* data, int actuator, double input);

}  // namespace stiction::plant
