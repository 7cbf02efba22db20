#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Returns the bytes of a field of mjData: of an array outside the arena, of a count such as
/// `ncon`, of `time`, or of a small vector such as `energy`. These are the fields that mjb_output
/// copies.
/// @return a span without data if there is no such field
std::span<const std::byte> find_data_field(const mjModel* model, const mjData* data,
                                           std::string_view name);

/// True if find_data_field knows the name.
bool is_data_field(std::string_view name);

}  // namespace stiction::plant
