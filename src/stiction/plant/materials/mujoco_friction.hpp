#pragma once

#include <array>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The places from which MuJoCo takes a friction coefficient of two geoms.
enum class FrictionSource {
  kOption,    // o_friction of <option>, with the flag `override`
  kPair,      // their <pair> element
  kPriority,  // the geom of higher priority
  kLarger,    // the larger one of both geoms
};

struct MujocoFriction {
  double value = 0;
  FrictionSource source = FrictionSource::kLarger;
};

/// The kinds of friction that a geom has in MuJoCo, in the order of geom_friction.
enum class FrictionKind { kSliding, kTorsional, kRolling };

/// Finds the friction of two geoms by MuJoCo's rule, from the model's present values: the first
/// coefficient of the kind, before MuJoCo raises values below mjMINMU.
/// @param pair their <pair> element; -1: none
MujocoFriction find_mujoco_friction(const mjModel* model, const std::array<int, 2>& geoms, int pair,
                                    FrictionKind kind = FrictionKind::kSliding);

}  // namespace stiction::plant
