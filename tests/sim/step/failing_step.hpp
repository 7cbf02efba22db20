#pragma once

#include <mujoco/mujoco.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim {

/// Takes a step that fails after it has begun, by an error in a callback of MuJoCo.
inline void fail_within_step(Stepper* stepper, support::Scene* scene) {
  mjcb_passive = [](const mjModel*, mjData*) { mju_error("the callback fails"); };
  const StepReport& report = stepper->step(scene->data);
  mjcb_passive = nullptr;
  EXPECT_EQ(report.status, kMuJoCoError) << report.message;
}

}  // namespace stiction::sim
