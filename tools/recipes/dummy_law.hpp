#pragma once

#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"

namespace stiction::laws {

/// A linear spring without dissipation:
///
///     f = k x_+,   n(v) = dt f(x0 - dt v).
template <class T>
struct DummyLaw {
  static constexpr auto kKind = contact::NormalLawKind::dummy_law;
  T dt{};   // [s]
  T k{};    // stiffness [N/m], >= 0
  T fe0{};  // elastic force at the start of the step, k x0 [N]

  static DummyLaw make(const LawStart<T>& start, const contact::ModelParameters&) {
    return {
        .dt = math::broadcast_to<T>(start.time_step), .k = start.law.stiffness, .fe0 = start.fn0};
  }

  NormalImpulse<T> calc_impulse(const T& v) const {
    const T force = fe0 - k * dt * v;
    const auto is_open = force <= 0;  // false for NaN, so that n is NaN too
    const T slope = is_open ? T{} : dt * k * dt;
    return {is_open ? T{} : dt * force, -slope, slope};
  }

  T calc_start_impulse(const T&) const { return dt * math::max(fe0, T{}); }

  T calc_cost(const T& v) const {
    const T u = math::max(fe0 / (k * dt) - v, T{});
    return k > 0 ? dt * k * dt * u * u / 2 : -dt * math::max(fe0, T{}) * v;
  }
};

}  // namespace stiction::laws
