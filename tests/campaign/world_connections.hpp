#pragma once

#include <string>

#include "campaign/random_world.hpp"
#include "campaign/world_parts.hpp"

namespace stiction::campaign {

/// Returns random equalities, tendons and actuators of a world, as elements of <mujoco>.
/// @param traits set to what they have
std::string make_connections(const View& view, const Parts& parts, Dice* dice, WorldTraits* traits);

}  // namespace stiction::campaign
