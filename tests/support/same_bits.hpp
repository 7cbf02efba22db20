#pragma once

#include <cstring>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::support {

/// True if two states have the same bits.
inline bool has_same_bits(const std::vector<mjtNum>& a, const std::vector<mjtNum>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(mjtNum)) == 0;
}

}  // namespace stiction::support
