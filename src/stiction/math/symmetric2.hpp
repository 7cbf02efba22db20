#pragma once

#include "stiction/math/scalar_functions.hpp"

namespace stiction::math {

/// A symmetric 2x2 matrix, for example of second moments in a plane.
struct Symmetric2 {
  double xx = 0, xy = 0, yy = 0;
};

/// The eigenvalues of a symmetric 2x2 matrix, and the unit eigenvector (x, y) of the larger one.
struct PrincipalAxes {
  double least, most, x, y;
};

inline PrincipalAxes calc_principal_axes(const Symmetric2& m) {
  const double mean = 0.5 * (m.xx + m.yy), half = 0.5 * (m.xx - m.yy);
  const double radius = math::hypot(half, m.xy), angle = 0.5 * math::atan2(m.xy, half);
  return {mean - radius, mean + radius, math::cos(angle), math::sin(angle)};
}

}  // namespace stiction::math
