#pragma once

#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"

namespace stiction::laws {

/// The linear spring and damper of SAP:
///
///     f = k (x + tau_d xdot)_+,   n(v) = dt f(x0 - dt v, -v) = dt k (dt + tau_d) (v_hat - v)_+.
///
/// It pushes approaching bodies before they touch, from a distance of tau_d times their speed. It
/// does not push bodies that separate faster than x / tau_d. Source: [castro2022] section V.B;
/// [theory:linear-law].
template <class T>
struct Linear {
  static constexpr auto kKind = contact::NormalLawKind::linear;
  T dt{};   // [s]
  T k{};    // stiffness [N/m], >= 0
  T tau{};  // relaxation time tau_d [s], >= 0
  T fe0{};  // elastic force at the start of the step, k x0 [N]

  static Linear make(const LawStart<T>& start, const contact::ModelParameters&) {
    return {.dt = math::broadcast_to<T>(start.time_step),
            .k = start.law.stiffness,
            .tau = start.law.relaxation_time,
            .fe0 = start.fn0};
  }

  NormalImpulse<T> calc_impulse(const T& v) const {
    const T force = fe0 - k * (dt + tau) * v;
    const auto is_separated = force <= 0;  // false for NaN
    const T slope = is_separated ? T{} : dt * k * (dt + tau);
    return {is_separated ? T{} : dt * force, -slope, slope};
  }

  /// Computes dt f of the state at the start of the step, which bounds lagged friction.
  T calc_start_impulse(const T& v0) const { return dt * math::max(fe0 - k * tau * v0, T{}); }

  /// Computes l(v) = N(v_hat) - N(v) >= 0. Without stiffness the cost is affine, and 0 at v = 0.
  T calc_cost(const T& v) const {
    const T u = math::max(fe0 / (k * (dt + tau)) - v, T{});
    return k > 0 ? dt * k * (dt + tau) * u * u / 2 : -dt * math::max(fe0, T{}) * v;
  }
};

}  // namespace stiction::laws
