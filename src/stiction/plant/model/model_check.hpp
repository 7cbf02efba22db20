#pragma once

#include <string>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Checks all numbers of the table in model_numbers.hpp: they must be finite, physically possible,
/// and at most 1e50, because products of larger numbers overflow. Margins of contacts, and the
/// vertices and polygon normals of meshes, must be at most 1e6.
/// MuJoCo itself accepts infinite masses and negative time steps.
/// @throws Error listing the faults with element, value, range and place in the model, at most ten
/// faulty elements of an array
void check_model(const mjModel* model);

/// Returns the first fault that check_model finds, and the number of the others; otherwise an empty
/// text. Reads the whole model, so call it only after a failure.
std::string find_fault(const mjModel* model);

/// Explains why a step of this model may have failed. Returns the first fault that check_model
/// finds, otherwise the first negative damping or stiffness, otherwise an empty text. Negative
/// values are allowed, but the step may then have no solution.
std::string explain_failure(const mjModel* model);

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
