#pragma once

#include <string>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Checks that a model's numbers can be simulated: finite, and in the range that physics gives
/// them; numbers above 1e50, whose products overflow, are none. MuJoCo itself loads infinite masses
/// and negative time steps.
/// @throws Error listing every fault, with element, value and range
void check_model(const mjModel* model);

/// Why a step of this model may have failed: the first fault that check_model finds, else the first
/// damping or stiffness below 0, which are allowed but may leave no solution; empty if there is
/// none. Looks at the whole model: for steps that have failed.
std::string explain_failure(const mjModel* model);

/// False if a mass, inertia, friction coefficient, armature or dry friction is not finite or below
/// 0; it may be false for -0 too. For every step: one pass over these arrays.
bool has_sound_bodies(const mjModel* model) noexcept;

/// A number in a message: "%g", and "nan" without a sign.
std::string format_value(double value);

/// What is wrong with a state or its inputs before a step.
struct StateFault {
  const char* array = nullptr;  // name of the field in mjData; null if all is well
  int index = 0;
  double value = 0;
  bool is_state = false;  // else an input
};

/// The first entry of the state or the inputs that is not finite or beyond MuJoCo's own limit of
/// 1e10 (mjMAXVAL).
StateFault check_state(const mjModel* model, const mjData* data) noexcept;

}  // namespace stiction::plant
