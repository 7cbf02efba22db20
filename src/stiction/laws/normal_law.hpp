#pragma once

#include "stiction/base/assert.hpp"
#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/law_data.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/math/lanes.hpp"

/// Normal laws as solvers evaluate them: discrete normal impulse n(v), its derivative and
/// potential. T is a double, or lanes of four contacts.
///
/// A law L is a struct template, an alternative of ChosenLaw. Its members are its parameters and
///
///     kKind                                its row in contact/normal_laws.hpp
///     make(LawStart, ModelParameters)      makes the law from contacts at the start of a step
///     calc_impulse(v)                      n and its slopes
///     calc_start_impulse(v0)               dt f of the state at the start of the step [N s]
///     calc_cost(v)                         l(v) [J]
///
/// No branch depends on a value, because lanes may differ; a law selects values instead.
namespace stiction::laws {

/// The curvature of a law's cost that its Hessian uses.
///
/// kExact is minus the derivative of the impulse, and is best near the solution. kSecant is the
/// slope of the chord to the velocity at which the impulse vanishes: zero slip, or v_hat of a
/// normal law.
///
/// The exact curvature is a poor model far from the solution. The curvature of friction vanishes
/// along a fast slip, so an exact Newton step overshoots stiction. |u|_s is concave in |u|^2, so
/// the parabola with the secant curvature lies above it. A dissipative normal impulse is convex in
/// v, so an exact step falls short of separation, and a secant step reaches it. Source:
/// [theory:secant].
enum class Curvature { kExact, kSecant };

/// The data that laws read of contacts at the start of a step.
template <class T>
struct LawStart {
  double time_step = 0;  // [s]
  T fn0{};               // elastic force [N]
  T phi0{};              // signed distance [m]
  contact::ContactLawData<T> law{};
};

/// Value and slopes of n at one velocity: n = -dl/dv >= 0 and dn/dv <= 0, l = -N + N(v_hat) >= 0.
template <class T>
struct NormalImpulse {
  T n{};       // [N s]
  T dn_dv{};   // [N s^2 / m]
  T secant{};  // n / (v_hat - v), where n reaches 0 at v_hat [N s^2 / m]

  T curvature(Curvature kind) const { return kind == Curvature::kExact ? -dn_dv : secant; }
};

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

  /// Computes dt (fe0)_+ (1 - d v_n0)_+ of the start, which bounds lagged friction [N s].
  T calc_start_impulse(const T& v_n0) const {
    return dt * math::max(fe0, T{}) * math::max(1 - d * v_n0, T{});
  }

  /// Computes l(v) = N(v_hat) - N(v) by integration from v_hat, so that no digits cancel.
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
    // The spring's factor vanishes first: x = dt u, u = v_hat - v; damping at v_hat is c_x.
    const T u = math::max(x0 / dt - v, T{});
    const T c_x = 1 - e * x0 / dt;
    const T y = dt * u;  // x^(5/2) = y y sqrt(y)
    const T spring = k_h * y * y * math::sqrt(y) * (c_x / 2.5 + e * u / 3.5);
    // Damping vanishes first, at x_d = q^2: integrate e (x - x_d) x^(3/2) in powers of sqrt(x) - q.
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

using contact::CustomLaw;

/// A custom law at one contact, or at four contacts.
template <class T>
struct Custom {
  static constexpr auto kKind = contact::NormalLawKind::custom;
  const CustomLaw* law = nullptr;
  T dt{};  // [s]
  T x0{};  // penetration at the start of the step [m]

  static Custom make(const LawStart<T>& start, const contact::ModelParameters& parameters) {
    return {.law = parameters.custom_law.get(),
            .dt = math::broadcast_to<T>(start.time_step),
            .x0 = -start.phi0};
  }

  NormalImpulse<T> calc_impulse(const T& v) const {
    STICTION_ASSERT(law != nullptr);
    NormalImpulse<T> out;
    for (int i = 0; i < math::count_lanes<T>(); ++i) {
      const double h = math::get_lane(dt, i), v_i = math::get_lane(v, i);
      const contact::NormalForce at = law->calc_force(math::get_lane(x0, i) - h * v_i, -v_i);
      math::set_lane(&out.n, i, h * at.f);
      math::set_lane(&out.dn_dv, i, -h * (h * at.df_dx + at.df_dxdot));
    }
    out.secant = -out.dn_dv;  // the velocity at which n vanishes is not known
    return out;
  }

  /// Computes dt f of the state at the start of the step, which bounds lagged friction.
  T calc_start_impulse(const T& v0) const {
    T out{};
    for (int i = 0; i < math::count_lanes<T>(); ++i) {
      const double f = law->calc_force(math::get_lane(x0, i), -math::get_lane(v0, i)).f;
      math::set_lane(&out, i, math::get_lane(dt, i) * f);
    }
    return out;
  }

  T calc_cost(const T& v) const {
    T out{};
    for (int i = 0; i < math::count_lanes<T>(); ++i)
      math::set_lane(&out, i,
                     integrate_impulse(*law, math::get_lane(dt, i), math::get_lane(x0, i),
                                       math::get_lane(v, i)));
    return out;
  }
};

}  // namespace stiction::laws
