#pragma once

#include <vector>

#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// What steps that go in parts have in common: the state that a failed one goes back to, the report
/// of all parts together, and the end as MuJoCo makes it.
class DividedStep {
 public:
  /// Keeps positions, velocities and time.
  void begin(StepContext& context, const mjData* d);

  /// Takes the report's contacts and statistics to those of the parts before.
  void add_part(const StepContext& context);

  /// If the step failed, the state is that of the start again. Else positions and velocities are
  /// those in data now and qacc is their change, while activations, plugins and time go on by the
  /// whole step, as mj_Euler takes them. The report tells of all parts.
  void end(StepContext& context, mjData* d);

  StepStatistics sums;  // of the parts

 private:
  double time_ = 0;
  std::vector<mjtNum> qpos_, qvel_;          // at the start
  std::vector<mjtNum> end_qpos_, end_qvel_;  // at the end
  StepTimings timings_;
  ContactReport contacts_;
};

/// Has MuJoCo's functions and ours take this for the time step, until StepContext::update.
inline void set_time_step(StepContext& context, double dt) {
  context.mirror.opt.timestep = dt;
  context.stage = &context.mirror;
}

}  // namespace stiction::sim
