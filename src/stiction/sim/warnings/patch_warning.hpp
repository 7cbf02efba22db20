#pragma once

#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Warns of each pair of pressure fields beyond the limits of the model: one body is thin for its
/// speed or deep in the other.
void warn_of_patch_limits(const plant::ContactPatches& patches, StepOutputs* out);

}  // namespace stiction::sim
