#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// A field of mjData: an array outside the arena, a count such as `ncon`, `time`, or a small vector
/// such as `energy`. These are the fields that mjb_output knows, and those of the state.
struct DataField {
  std::size_t offset = 0;  // in mjData [bytes]
  std::size_t size = 0;    // of the values [bytes]
  bool is_array = false;   // mjData has their address, not the values themselves

  /// Returns the address of the first value; null if there are none.
  const std::byte* in(const mjData* data) const {
    const auto* member = reinterpret_cast<const std::byte*>(data) + offset;
    return is_array ? *reinterpret_cast<const std::byte* const*>(member) : member;
  }
};

/// Returns the field of this name, if there is one.
std::optional<DataField> find_data_field(const mjModel* model, std::string_view name);

}  // namespace stiction::plant
