#pragma once

#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"

namespace stiction::laws {

/// Hertz's contact of two spheres with Hunt-Crossley dissipation:
///
///     f = k_h x_+^(3/2) (1 + 3/2 d xdot)_+,   n(v) = dt f(x0 - dt v, -v),
///
/// with k_h = 4/3 E* sqrt(R). Source: [hertz1882], [hunt1975]; [theory:hertz].
template <class T>
struct Hertz {
  static constexpr auto kKind = contact::NormalLawKind::hertz;
  T dt{};   // [s]
  T k_h{};  // stiffness [N/m^(3/2)], > 0
  T d{};    // dissipation [s/m], >= 0
  T x0{};   // penetration at the start of the step [m]

  static Hertz make(const LawStart<T>& start, const contact::ModelParameters&) {
    return {.dt = math::broadcast_to<T>(start.time_step),
            .k_h = start.law.hertz_stiffness,
            .d = start.law.dissipation,
            .x0 = -start.phi0};
  }

  NormalImpulse<T> calc_impulse(const T& v) const {
    const T e = 1.5 * d;
    const T x = x0 - dt * v;
    const T damping = 1 - e * v;
    const auto is_separated = (x <= 0) | (damping <= 0);  // false for NaN
    const T root = math::sqrt(math::max(x, T{}));
    const T force = k_h * x * root;
    // v_hat is the velocity at which the first of the two factors vanishes.
    const T spring_secant = dt * dt * k_h * root * damping;
    const T damping_slope = dt * e * force;
    const T secant = x0 * e <= dt ? spring_secant : damping_slope;
    return {is_separated ? T{} : dt * force * damping,
            is_separated ? T{} : -(1.5 * spring_secant + damping_slope),
            is_separated ? T{} : secant};
  }

  /// Computes dt f of the state at the start of the step, which bounds lagged friction.
  T calc_start_impulse(const T& v0) const {
    const T x = math::max(x0, T{});
    return dt * k_h * x * math::sqrt(x) * math::max(1 - 1.5 * d * v0, T{});
  }

  /// Computes l(v) = N(v_hat) - N(v) >= 0 as a sum of terms of one sign.
  T calc_cost(const T& v) const {
    const T e = 1.5 * d;
    // The spring's factor vanishes first: x = dt u with u = v_hat - v. At v_hat the damping factor
    // is c_x.
    const T u = math::max(x0 / dt - v, T{});
    const T c_x = 1 - e * x0 / dt;
    const T y = dt * u;  // x^(5/2) = y y sqrt(y)
    const T spring = k_h * y * y * math::sqrt(y) * (c_x / 2.5 + e * u / 3.5);
    // The damping factor vanishes first, at x_d = q^2: integrate e (x - x_d) x^(3/2) over x, in
    // powers of p = sqrt(x) - q.
    const T x_d = math::max(x0 - dt / e, T{});
    const T rise = math::max(dt * (1 / e - v), T{});
    const T q = math::sqrt(x_d);
    const T p = rise / (math::sqrt(x_d + rise) + q);
    const T q_powers[5] = {q * q * q * q, q * q * q, q * q, q, math::broadcast_to<T>(1)};
    constexpr double kBinomial[5] = {1, 4, 6, 4, 1};
    T sum{}, p_power = p * p;
    for (int i = 0; i < 5; ++i) {
      sum += kBinomial[i] * q_powers[i] * p_power * (2 * q / (i + 2) + p / (i + 3));
      p_power = p_power * p;
    }
    const T damper = 2 * k_h * e / dt * sum;
    return x0 * e > dt ? damper : spring;
  }
};

}  // namespace stiction::laws
