#pragma once

#include <vector>

#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// A contact force of this many weights of all bodies is too large, unless motion or applied forces
/// explain it.
inline constexpr double kTooManyWeights = 1e4;

/// Warns if the impulse of a contact in the report is larger than kTooManyWeights during the step
/// and the momentum that all bodies have without contacts,
///
///     P = sqrt(m v*^T M v*),   v* = v0 + dt M^-1 f.
///
/// An impact, and an actuator that presses on a body, need no more than P. Larger forces act where
/// geoms overlap that their joints hardly let part: the force has no effect but on the joints. The
/// warning names the contact with the largest impulse.
/// @param data at the start of the step, with MuJoCo's smooth forces
/// @param dt   time step of the impulses [s]
/// @param scratch memory that is reused from step to step
void warn_of_large_force(StepContext& context, const mjData* data, double dt,
                         std::vector<mjtNum>* scratch);

}  // namespace stiction::sim
