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

}  // namespace stiction::plant
