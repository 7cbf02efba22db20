#pragma once

#include <cstdint>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Checks that a model's numbers can be simulated: finite, and in the range that physics gives
/// them. MuJoCo itself loads infinite masses and negative time steps.
/// @throws Error listing every fault, with element, value and range
void check_model(const mjModel* model);

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
