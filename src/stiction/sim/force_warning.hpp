#pragma once

#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// A contact force of this many weights of all bodies that joints move is too large, unless motion
/// or applied forces explain it.
inline constexpr double kTooManyWeights = 1e4;

/// Warns if the impulse of a contact in the report is larger than that of kTooManyWeights during
/// the step, and larger than (1 + e) P, where e is the largest restitution of a contact, and P is
/// the momentum that all bodies have without contacts, and that surfaces which move at b may give
/// them,
///
///     P = sqrt(m v*^T M v*) + m max |b|,   v* = v0 + dt M^-1 f.
///
/// An impact, and an actuator that presses on a body, need no more than this. Larger forces act
/// where geoms overlap that their joints hardly let part: the force has no effect but on the
/// joints. The warning names the contact with the largest impulse.
/// @param data at the start of the step, with MuJoCo's smooth forces
/// @param problem the contacts of the step
/// @param scratch memory that is reused from step to step
void warn_of_large_force(StepContext& context, const mjData* data,
                         const contact::ContactProblem& problem, std::vector<mjtNum>* scratch);

}  // namespace stiction::sim
