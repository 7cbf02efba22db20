#pragma once

#include <span>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Returns true if a row of an equality is only round-off.
///
/// MuJoCo computes a row of a connect or a weld as the difference of the Jacobians of two bodies.
/// If no motion moves the bodies apart in its direction, as for a connect at the center of their
/// ball joint, the positions in the row cancel, and entries of the order 1e-17 may be left. A rigid
/// model would satisfy such a row by the motion of the whole tree, which the row does not concern.
/// @param equality of the model
/// @param J        entries of the row
bool is_round_off(const mjModel* m, const mjData* d, int equality, std::span<const double> J);

}  // namespace stiction::plant
