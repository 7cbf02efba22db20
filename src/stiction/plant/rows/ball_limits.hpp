#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The limits of ball joints whose rows turn_ball_limits changes.
enum class BallLimitRows {
  near_zero,  // of joints at an angle below dt |w|, whose axis turns by up to pi within the step
  all,        // for models that allow no violation
};

/// Makes the rows of limits of ball joints the tangents of the angle at the end of a step.
///
/// MuJoCo's row of a limit is -n, with the axis of rotation n: the angle grows at the rate n w. If
/// the joint also turns about another axis, n turns with it, and the angle grows by a second-order
/// term, (dt w_t)^2 cot(angle / 2) / 4 for a velocity w_t across n. At 35 degrees and 10 rad/s this
/// is 0.4 rad/s in steps of 5 ms, more than a correction of overlaps removes. At an angle below
/// dt |w| the axis turns by up to pi within the step, and at 0 MuJoCo takes the x axis.
///
/// The row here is linear about the velocity w: its Jacobian is the negative gradient -g of the
/// angle at the end of the step, and its position is such that position - dt g w is the distance to
/// the limit there. A joint at the angle 0 that does not move has no direction, and its row becomes
/// 0.
/// @param data after mj_makeConstraint
/// @param qvel velocities w, size nv
void turn_ball_limits(const mjModel* model, mjData* data, const mjtNum* qvel, BallLimitRows which);

}  // namespace stiction::plant
