#pragma once

#include <cstdint>

#include <mujoco/mujoco.h>

namespace stiction::sim {

/// Returns a hash of the time and the positions of a state, which is not 0. By it, what a step
/// remembers finds out whether the next one goes on with the state in which it ended.
std::uint64_t hash_state(const mjModel* model, const mjData* data);

/// Returns a hash of the time, positions, velocities and activations of a state, which is not 0.
std::uint64_t hash_motion(const mjModel* model, const mjData* data);

}  // namespace stiction::sim
