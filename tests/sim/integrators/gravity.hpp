#pragma once

namespace stiction::sim {

inline constexpr double kGravity = 9.81;  // MuJoCo's default [m/s^2]

}  // namespace stiction::sim
