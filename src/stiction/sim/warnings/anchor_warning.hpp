#pragma once

#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// Warns that contacts that stick are lost in many steps, so that what they hold may creep.
void warn_of_lost_anchors(StepContext& context);

}  // namespace stiction::sim
