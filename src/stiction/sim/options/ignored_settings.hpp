#pragma once

#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::sim {

/// Finds the settings in the contact properties, the MJCF and the options that the contact model
/// ignores or uses differently. Settings with their default values are not reported.
/// @param may_sleep false if the flag sleep has no effect; see Stepper::set_may_sleep
/// @return one sentence per setting, with the element and the setting to use instead
std::vector<std::string> find_ignored_settings(const mjModel* model,
                                               const plant::MaterialTable& materials,
                                               const StepOptions& options, bool may_sleep = true);

}  // namespace stiction::sim
