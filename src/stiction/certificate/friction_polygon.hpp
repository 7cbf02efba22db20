#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/math/scalar_functions.hpp"

/// The friction polygons of rigid models, computed from their definitions.
/// Source: [theory:stewart-trinkle], [theory:least-energy].
namespace stiction::certificate {

/// Returns the circumradius of the friction polygon that has the friction of gamma on its edge
/// [N s]. It has k corners, the first of them on the t1 axis.
inline double calc_polygon_radius(const ContactVector& gamma, int k) {
  double farthest = 0;
  for (int m = 0; m < k; ++m) {
    const double angle = std::numbers::pi * (2 * m + 1) / k;
    farthest = std::max(farthest, gamma[0] * math::cos(angle) + gamma[1] * math::sin(angle));
  }
  return farthest / math::cos(std::numbers::pi / k);
}

/// Returns the largest slip speed against one of the k directions, the lambda of the LCP [m/s].
inline double calc_polygon_slip(const ContactVector& v, int k) {
  double fastest = 0;
  for (int m = 0; m < k; ++m) {
    const double angle = 2 * std::numbers::pi * m / k;
    fastest = std::max(fastest, -(v[0] * math::cos(angle) + v[1] * math::sin(angle)));
  }
  return fastest;
}

/// Returns how far the friction of gamma is beyond the half-planes of `drumwright_shell`, k/2 in
/// each quadrant; negative inside them [N s].
inline double calc_half_plane_excess(const ContactVector& gamma, double bound, int k) {
  double excess = -contact::kInfinity;
  for (int m = 0; m < k / 2; ++m) {
    const double theta = 0.5 * std::numbers::pi * m / (0.5 * k - 1);
    excess = std::max(excess, std::abs(gamma[0]) * math::cos(theta) +
                                  std::abs(gamma[1]) * math::sin(theta) - bound);
  }
  return excess;
}

}  // namespace stiction::certificate
