#pragma once

#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"

namespace stiction::laws {

/// Linear spring with Hunt-Crossley dissipation:
///
///     f = k x_+ (1 + d xdot)_+,   n(v) = dt f(x0 - dt v, -v).
///
/// Source: [hunt1975]; [castro2023] eqs. (6), (13)-(16); [theory:hunt-crossley].
template <class T>
struct HuntCrossley {
  static constexpr auto kKind = contact::NormalLawKind::hunt_crossley;
  T dt{};   // [s]
  T k{};    // stiffness [N/m], >= 0
  T d{};    // dissipation [s/m], >= 0
  T fe0{};  // elastic force at the start of the step, k x0 [N]

  static HuntCrossley make(const LawStart<T>& start, const contact::ModelParameters&) {
    return {.dt = math::broadcast_to<T>(start.time_step),
            .k = start.law.stiffness,
            .d = start.law.dissipation,
            .fe0 = start.fn0};
  }

  NormalImpulse<T> calc_impulse(const T& v) const {
    const T fe = fe0 - dt * k * v;
    const T damping = 1 - d * v;
    const auto is_separated = (fe <= 0) | (damping <= 0);  // false for NaN
    // The factor that vanishes first, at v_hat, is linear in v_hat - v.
    const T spring_slope = dt * dt * k * damping;
    const T damping_slope = dt * d * fe;
    const T secant = fe0 * d <= dt * k ? spring_slope : damping_slope;
    return {is_separated ? T{} : dt * fe * damping,
            is_separated ? T{} : -(spring_slope + damping_slope), is_separated ? T{} : secant};
  }

  /// Computes dt f of the state at the start of the step, dt (fe0)_+ (1 - d v_n0)_+, which bounds
  /// lagged friction [N s].
  T calc_start_impulse(const T& v_n0) const {
    return dt * math::max(fe0, T{}) * math::max(1 - d * v_n0, T{});
  }

  /// Computes l(v) = N(v_hat) - N(v) by integration from the end v_hat of the law's support, so
  /// that no digits cancel.
  T calc_cost(const T& v) const {
    const T v_x = fe0 / (dt * k);  // the spring force vanishes
    const T u_x = math::max(v_x - v, T{});
    const T spring = dt * dt * k * (d * u_x * u_x * u_x / 3 + (1 - d * v_x) * u_x * u_x / 2);
    const T u_d = math::max(1 / d - v, T{});
    const T damper = dt * d * (dt * k * u_d * u_d * u_d / 3 + (fe0 - dt * k / d) * u_d * u_d / 2);
    // The cost of a constant force has no end of support. It is affine, and 0 at v = 0.
    const T constant = -dt * math::max(fe0, T{}) * v;
    return fe0 * d > dt * k ? damper : (k > 0 ? spring : constant);
  }
};

}  // namespace stiction::laws
