#pragma once

#include <array>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Where MuJoCo takes a friction coefficient of two geoms from.
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

/// MuJoCo's kinds of friction, as a geom has them.
enum class FrictionKind { kSliding, kTorsional, kRolling };

/// MuJoCo's rule for the friction of two geoms, of the model's present values: the first
/// coefficient of its kind, before MuJoCo raises what is below mjMINMU.
/// @param pair their <pair> element; -1: none
MujocoFriction find_mujoco_friction(const mjModel* model, const std::array<int, 2>& geoms, int pair,
                                    FrictionKind kind = FrictionKind::kSliding);

}  // namespace stiction::plant
