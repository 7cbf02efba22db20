#pragma once

#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// Runs one stage of a step and adds the ticks since the last stage to the report, see StepTime.
/// @param time  the stage's entry in the report's timings
/// @param stage called without arguments; it reports a failure by StepContext::fail
/// @return false if the step has failed
template <class Stage>
[[nodiscard]] bool run_stage(StepContext& context, double StepTimings::*time, Stage&& stage) {
  base::check_limits();
  stage();
  context.report.timings.*time += context.clock.lap();
  return !context.failed();
}

}  // namespace stiction::sim
