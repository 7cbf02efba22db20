#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/advance/advance_options.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::sim {

/// The smallest accuracy [m]. The velocities of a step are certified to about 1e-3 m/s at worst,
/// and the least step is 1e-7 s long, so that errors below ten times the product of both are those
/// of the solver.
inline constexpr double kLeastAccuracy = 1e-9;

/// True if a simulator with a contact model can advance with error control: if steps of any lengths
/// approximate the same motion.
bool can_advance(const contact::ContactModelTraits& model);

/// Checks that a simulator can advance with error control.
/// @throws Error naming the contact model or the integrator that does not fit, and those that do
void check_can_advance(const StepOptions& options);

/// Checks the arguments of Stepper::advance.
/// @throws Error naming the argument, its value and its range
void check_advance(const AdvanceOptions& options, const mjData* data);

}  // namespace stiction::sim
