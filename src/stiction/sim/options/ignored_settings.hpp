#pragma once

#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/sim/options/step_options.hpp"

/// Settings that have no effect, and those that the step refuses.
namespace stiction::sim {

/// Finds the settings in the contact properties, the MJCF and the options that the contact model
/// ignores or uses differently. Settings with their default values are not reported.
/// @param may_sleep false if the flag sleep has no effect; see Stepper::set_may_sleep
/// @return one sentence per setting, with the element and the setting to use instead
std::vector<std::string> find_ignored_settings(const mjModel* model,
                                               const plant::MaterialTable& materials,
                                               const StepOptions& options, bool may_sleep = true);

/// Refuses a model with dry friction of joints or tendons.
/// @param text cause and remedy, after the name of the element
/// @throws Error kUnsupported that names the first element with frictionloss
void refuse_dry_friction(const mjModel* model, const char* text);
/// Refuses a model with dry friction if the options choose an LCP solver that cannot bound impulses
/// on both sides, under a model that reads this option.
/// @throws Error kUnsupported
void check_dry_friction(const mjModel* model, const StepOptions& options);

}  // namespace stiction::sim
