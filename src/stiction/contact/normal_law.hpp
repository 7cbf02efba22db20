#pragma once

#include <algorithm>

#include "stiction/contact/curvature.hpp"

/// Normal laws: discrete normal impulse n(v), its derivative and potential, of one contact.
namespace stiction::contact {

/// Value and slopes of n at one velocity. l = -N + N(v_hat) >= 0 is convex,
/// n = -dl/dv >= 0 and dn/dv <= 0.
struct NormalImpulse {
  double n = 0;       // [N s]
  double dn_dv = 0;   // [N s^2 / m]
  double secant = 0;  // n / (v_hat - v), where n reaches 0 at v_hat [N s^2 / m]

  double curvature(Curvature kind) const { return kind == Curvature::kExact ? -dn_dv : secant; }
};

/// Linear spring with Hunt-Crossley dissipation:
///
///     f = k x_+ (1 + d xdot)_+,   n(v) = dt f(x0 - dt v, -v).
///
/// Source: [castro2023] eqs. (10), (13); restored in theory section 4.1.
struct HuntCrossley {
  double dt = 0;   // [s]
  double k = 0;    // stiffness [N/m], >= 0
  double d = 0;    // dissipation [s/m], >= 0
  double fe0 = 0;  // elastic force at the start of the step, k x0 [N]

  NormalImpulse calc_impulse(double v) const {
    const double fe = fe0 - dt * k * v;
    const double damping = 1 - d * v;
    if (!(fe > 0 && damping > 0)) return {};
    // Of the two factors, the one that vanishes first is linear in v_hat - v.
    const double spring_slope = dt * dt * k * damping;
    const double damping_slope = dt * d * fe;
    const bool spring_ends_first = fe0 * d <= dt * k;
    return {dt * fe * damping, -(spring_slope + damping_slope),
            spring_ends_first ? spring_slope : damping_slope};
  }

  /// l(v) = N(v_hat) - N(v), from the end v_hat of the law's support, so that nothing cancels.
  double calc_cost(double v) const {
    if (k <= 0) {  // a constant force, a face without stiffness
      if (fe0 <= 0) return 0;
      if (d <= 0) return -dt * fe0 * v;  // never ends: affine, anchored at v = 0
      const double u = std::max(0.0, 1 / d - v);
      return 0.5 * dt * d * fe0 * u * u;
    }
    const double v_x = fe0 / (dt * k);  // where the spring is released
    if (d <= 0 || v_x <= 1 / d) {
      const double u = std::max(0.0, v_x - v);
      return dt * dt * k * (d * u * u * u / 3 + (1 - d * v_x) * u * u / 2);
    }
    const double u = std::max(0.0, 1 / d - v);
    return dt * d * (dt * k * u * u * u / 3 + (fe0 - dt * k / d) * u * u / 2);
  }
};

}  // namespace stiction::contact
