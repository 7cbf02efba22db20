#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/options/step_options.hpp"

namespace stiction::sim {

/// Refuses a model with dry friction of joints or tendons.
/// @param text cause and remedy, after the name of the element
/// @throws Error kUnsupported that names the first element with frictionloss
void refuse_dry_friction(const mjModel* model, const char* text);

/// Refuses a model with dry friction if the options choose an LCP solver that cannot bound impulses
/// on both sides, under a model that reads this option.
/// @throws Error kUnsupported
void check_dry_friction(const mjModel* model, const StepOptions& options);

}  // namespace stiction::sim
