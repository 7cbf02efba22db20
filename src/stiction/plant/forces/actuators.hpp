#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// True if the group of an actuator is disabled.
bool is_disabled_actuator(const mjModel* model, int actuator);

/// Returns the input that an actuator's gain multiplies: the delayed and clamped control, or the
/// activation, at the end of the step if the actuator uses it early.
/// @param data after mj_fwdActuation
double calc_actuator_input(const mjModel* model, const mjData* data, int actuator);

/// Returns an activation at the end of the step, as mj_step computes it.
/// @param data    after mj_fwdActuation
/// @param address index in data->act of an activation of the actuator
double calc_next_activation(const mjModel* model, const mjData* data, int actuator, int address);

/// True if an actuator has one output, a fixed or affine gain, and an affine bias or none.
bool is_affine_actuator(const mjModel* model, int actuator);

/// Computes the force of an affine actuator without its limits,
///
///     (g0 + g1 l + g2 v) input + (b0 + b1 l + b2 v).
///
/// @param data after mj_fwdActuation
/// @return force [N, N m]
double calc_affine_force(const mjModel* model, const mjData* data, int actuator);

/// Returns -df/dv of an actuator's force at its velocity, where MuJoCo's integrator implicitfast
/// takes it, of the gain of muscles and of DC motors; 0 for all other types [N s/m or N m s/rad].
/// @param input the control or activation that multiplies the gain
double calc_special_damping(const mjModel* model, const mjData* data, int actuator, double input);

}  // namespace stiction::plant
