#pragma once

#include <array>

#include <mujoco/mujoco.h>

#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Warns that contacts that stick are lost in many steps, so that what they hold may creep.
void warn_of_lost_anchors(const mjModel* m, const std::array<int, 2>& geoms, StepReport* report);

}  // namespace stiction::sim
