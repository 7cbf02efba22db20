#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/mocap_motion.hpp"

namespace stiction::plant {

/// Speculative limits: limits of joints and tendons that may be reached within the step, for
/// contact models that allow no penetration. MuJoCo makes a row for a limit if the joint is within
/// the margin of its range. A limit that is reached within the step would therefore first be seen
/// as a violation. This class widens the margin of such a limit to its present distance. The rows
/// then get the MJCF's own margin back.
class SpeculativeLimits {
 public:
  /// Accelerations by impulses are not known before the solve. A limit takes part if this
  /// acceleration, twice gravity, would reach it within the step [m/s^2, rad/s^2].
  static constexpr double kUnknownAcceleration = 20;

  /// Chooses the limits that would be reached within the step at data->qvel.
  /// @param data  after mj_fwdKinematics
  /// @param mocap velocities of mocap bodies
  void choose(const mjModel* model, const mjData* data, const MocapMotion& mocap);

  /// Adds the limits that would be reached within the step at the velocities of a solution.
  /// @param qvel size nv
  /// @return true if there are any
  bool add_reached(const mjModel* model, const mjData* data, const MocapMotion& mocap,
                   const double* qvel);

  /// Gives a shadow of the model the widened margins.
  void widen(mjModel* shadow) const;
  /// Gives the limit rows of `data` the model's margins.
  static void restore_margins(const mjModel* model, mjData* data);

 private:
  bool add(const mjModel* m, const mjData* d, const MocapMotion& mocap, const double* qvel,
           double slack);

  std::vector<mjtNum> joint_margin_, tendon_margin_;  // widened margins [m, rad]
};

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
