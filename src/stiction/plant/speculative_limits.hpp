#pragma once

#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Limits of joints and tendons before they are reached, for models that let nothing overlap.
/// MuJoCo makes a limit's row where the joint is within the margin of its range; one that closes
/// within the step would first be seen as a violation. Here the margin of such a limit is as wide
/// as it is away. What rows then have for a margin is the MJCF's own.
class SpeculativeLimits {
 public:
  /// Of what is not known before the solve, twice gravity [m/s^2, rad/s^2]: nearer limits take
  /// part.
  static constexpr double kUnknownAcceleration = 20;

  /// Those that would close within the step at data->qvel.
  /// @param data after mj_fwdKinematics
  void choose(const mjModel* model, const mjData* data);

  /// Adds those that close within the step at the velocities of a solution.
  /// @param qvel size nv
  /// @return true if there is any
  bool add_reached(const mjModel* model, const mjData* data, const double* qvel);

  /// Sets the margins of a copy of the model, whose other arrays it shares.
  void widen(const mjModel* model, mjModel* wide) const;
  /// Gives rows the model's margins again.
  static void restore_margins(const mjModel* model, mjData* data);

 private:
  bool add(const mjModel* m, const mjData* d, const double* qvel, double way);

  std::vector<mjtNum> joint_margin_, tendon_margin_;
};

}  // namespace stiction::plant
