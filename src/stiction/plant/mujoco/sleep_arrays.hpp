#pragma once

#include <span>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The value of mjData::tree_asleep of a tree that has just moved.
inline constexpr int kFullyAwake = -(1 + mjMINAWAKE);

/// Writes tree_asleep and all arrays that MuJoCo derives from it, by which its functions skip
/// sleeping trees: tree_awake, body_awake, the lists of awake bodies and dofs, and their lengths.
/// @param tree_asleep size ntree; below 0: awake, otherwise the next tree of the sleeping island
void write_sleep_arrays(const mjModel* model, std::span<const int> tree_asleep, mjData* data);

}  // namespace stiction::plant
