#pragma once

#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials.hpp"
#include "stiction/sim/step_options.hpp"

namespace stiction::sim {

/// Settings that someone made, in the contact properties, the MJCF or the options, and that have no
/// effect under the contact model, or not the one they say. Values at their defaults are not among
/// them.
/// @return a sentence each, with the element and what has an effect instead
std::vector<std::string> find_ignored_settings(const mjModel* model,
                                               const plant::MaterialTable& materials,
                                               const StepOptions& options);

}  // namespace stiction::sim
