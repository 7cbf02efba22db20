#pragma once

#include <string>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Checks that a model's numbers can be simulated: they must be finite, physically possible, and at
/// most 1e50, because products of larger numbers overflow; margins of contacts at most 1e6. MuJoCo
/// itself accepts infinite masses and negative time steps.
/// @throws Error listing every fault with its element, value and range
void check_model(const mjModel* model);

/// Explains why a step of this model may have failed. Returns the first fault that check_model
/// finds, otherwise the first negative damping or stiffness, otherwise an empty text. Negative
/// values are allowed, but the step may then have no solution. Reads the whole model, so call it
/// only after a failure.
std::string explain_failure(const mjModel* model);

/// True if all masses, inertias, sizes, friction coefficients, armatures and dry frictions are from
/// 0 to 1e50, and all poses, margins and gaps of geoms are finite. A value of -0 may give false.
/// Cheap enough for every step: one pass over these arrays.
bool has_sound_bodies(const mjModel* model) noexcept;

/// An invalid entry of the state or of the inputs before a step.
struct StateFault {
  const char* array = nullptr;  // name of the field in mjData; null without a fault
  int index = 0;                // entry of the array
  double value = 0;
  bool is_state = false;  // false: an input
};

/// Returns the first entry of the state or the inputs that is not finite, or is larger than
/// MuJoCo's own limit of 1e10 (mjMAXVAL).
StateFault check_state(const mjModel* model, const mjData* data) noexcept;

}  // namespace stiction::plant
