#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Gives the limits of ball joints that may turn about another axis within the step the direction
/// of the rotation at its end.
///
/// The angle of a ball joint grows along its axis of rotation n, so MuJoCo's row of a limit is -n.
/// Near the angle 0 the axis is that of the motion: at an angle below dt |w| it turns by up to pi
/// within the step, and at 0 MuJoCo takes the x axis. Such a row here is the tangent of the angle
/// at the end of a step with the velocity w: its Jacobian is -n_1 with the axis n_1 of that
/// rotation, and its position is such that position - dt n_1 w is the distance to the limit there.
/// A joint at the angle 0 that does not move has no direction, and its row becomes 0.
/// @param data after mj_makeConstraint
/// @param qvel velocities w, size nv
void turn_ball_limits(const mjModel* model, mjData* data, const mjtNum* qvel);

}  // namespace stiction::plant
