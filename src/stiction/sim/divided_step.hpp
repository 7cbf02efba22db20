#pragma once

#include <vector>

#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// The bookkeeping of a step that is taken in parts: the initial state, the report of all parts
/// together, and the end of the step as MuJoCo makes it.
class DividedStep {
 public:
  /// Keeps the initial positions, velocities and time.
  void begin(StepContext& context, const mjData* d);

  /// Moves the report of a part to those of the parts before.
  void add_part(StepContext& context);

  /// Ends the step. If it failed, restores the initial state. If not, positions and velocities stay
  /// those in data, qacc becomes their change over the step, and activations, plugins and time
  /// advance by the whole step, as mj_Euler advances them. The report then describes all parts.
  void end(StepContext& context, mjData* d);

  StepStatistics sums;  // over the parts

 private:
  double time_ = 0;
  std::vector<mjtNum> qpos_, qvel_;          // at the start
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
