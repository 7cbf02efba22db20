#pragma once

#include <vector>

#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// Keeps the initial state of a step that is taken in parts, sums the reports of the parts, and
/// ends the step as MuJoCo does.
class DividedStep {
 public:
  /// Keeps the initial positions, velocities, mocap poses and time.
  void begin(StepContext& context, const mjData* d);

  /// Adds the report of a part to the sums over the earlier parts, and clears its timings.
  void add_part(StepContext& context);

  /// Restores the initial state.
  void restore(mjData* d) const;

  /// Ends the step. If it failed, restores the initial state. Otherwise keeps the positions and
  /// velocities of `data`, sets qacc to the change of velocity divided by the time step, and
  /// advances activations, plugins and time by the whole step as mj_Euler does. The report then
  /// describes all parts.
  void end(StepContext& context, mjData* d);

  StepStatistics sums;  // over the parts

 private:
  double time_ = 0;
  std::vector<mjtNum> qpos_, qvel_;  // at the start
  std::vector<mjtNum> mocap_pos_, mocap_quat_;
  std::vector<mjtNum> end_qpos_, end_qvel_;  // at the end
  StepTimings timings_;
  ContactReport contacts_;
};

/// Sets the time step of MuJoCo's functions and ours, until the next StepContext::update.
inline void set_time_step(StepContext& context, double dt) {
  context.mirror.opt.timestep = dt;
  context.stage = &context.mirror;
}

}  // namespace stiction::sim
