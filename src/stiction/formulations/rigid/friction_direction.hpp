#pragma once

#include <cmath>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::formulations {

/// A unit tangent of a contact in its frame, cos t1 + sin t2.
struct FrictionDirection {
  double cos = 1, sin = 0;
};

/// Returns the direction at an angle from t1 [rad]. Round-off at the axes is cleared, so that
/// directions along axes are exact and opposite ones cancel.
inline FrictionDirection make_friction_direction(double angle) {
  constexpr double kRoundOff = 1e-15;  // cos(pi / 2) is 6e-17, cos(3 pi / 2) is 2e-16
  const auto clear = [](double x) { return std::abs(x) < kRoundOff ? 0 : x; };
  return {.cos = clear(math::cos(angle)), .sin = clear(math::sin(angle))};
}

}  // namespace stiction::formulations
