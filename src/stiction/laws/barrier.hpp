#pragma once

#include <limits>

#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"
#include "stiction/math/lanes.hpp"

/// Barriers: elastic forces that act before surfaces touch, and grow without bound as the gap
/// closes. They keep x < 0, so an impulse exists only for velocities above x0 / dt.
namespace stiction::laws {

/// An elastic force at one penetration x < 0.
template <class T>
struct BarrierForce {
  T f{};       // [N], >= 0
  T df_dx{};   // [N/m], >= 0
  T energy{};  // potential U, with f = dU/dx [J]
};

/// Logarithmic barrier, with the parameter kappa = k d^2 of interior-point methods:
///
///     f = -kappa / x,   U = -kappa ln(-x / d).
///
/// It acts at any distance. At the distance d the force is k d and the stiffness is k. At larger
/// distances U is negative.
/// Source: [castro2023] eqs. (9), (10); [theory:log-barrier].
template <class T>
struct LogBarrierForce {
  static constexpr auto kKind = contact::NormalLawKind::log_barrier;
  T k{};  // barrier stiffness [N/m], > 0
  T d{};  // barrier thickness [m], > 0

  BarrierForce<T> calc(const T& x) const {
    const T s = math::max(-x / d, T{});
    return {k * d / s, k / (s * s), -k * d * d * math::log(s)};
  }
};

/// Barrier of incremental potential contact, which acts only at distances below d. With s = -x / d
/// and u = (1 - s)_+,
///
///     f = k d u (u / s - 2 ln s),   U = -k d^2 u^2 ln s.
///
/// Source: [li2020]; [castro2023] eqs. (11), (12), with the sign of (12) corrected;
/// [theory:ipc-barrier].
template <class T>
struct IpcBarrierForce {
  static constexpr auto kKind = contact::NormalLawKind::ipc_barrier;
  T k{};  // barrier stiffness kappa [N/m], > 0
  T d{};  // barrier thickness [m], > 0

  BarrierForce<T> calc(const T& x) const {
    const T s = math::min(math::max(-x / d, T{}), math::broadcast_to<T>(1));
    const T u = math::max((x + d) / d, T{});
    // Near s = 1, u has more digits than s. Use them in ln s = ln(1 - u).
    const T minus_log = u < 0.5 ? -math::log1p(-u) : -math::log(s);
    return {k * d * u * (u / s + 2 * minus_log), k * (2 * minus_log + 4 * u / s + u * u / (s * s)),
            k * d * d * u * u * minus_log};
  }
};

/// The normal law of a barrier: n(v) = dt f(x0 - dt v), without dissipation.
///
/// Newton's method must start at a velocity with a finite force, and such a velocity may not be
/// known. The solver can therefore extend the force linearly, by its tangent, above the penetration
/// x_linear.
template <class T, template <class> class Force>
struct Barrier {
  static constexpr auto kKind = Force<T>::kKind;
  T dt{};          // [s]
  T x0{};          // penetration at the start of the step [m]
  Force<T> force;  // the barrier with its parameters
  T x_linear{};    // the force is linear above this penetration, <= 0 [m]

  static Barrier make(const LawStart<T>& start, const contact::ModelParameters&) {
    return {.dt = math::broadcast_to<T>(start.time_step),
            .x0 = -start.phi0,
            .force = {.k = start.law.barrier_stiffness, .d = start.law.barrier_thickness},
            .x_linear = T{}};
  }

  /// Computes the impulse. The secant is the exact slope, since a mean slope is a poor model.
  NormalImpulse<T> calc_impulse(const T& v) const {
    const BarrierForce<T> at = calc_force(x0 - dt * v);
    const T slope = dt * dt * at.df_dx;
    return {dt * at.f, -slope, slope};
  }

  /// Computes the force at x. Above x_linear it is that of the tangent.
  BarrierForce<T> calc_force(const T& x) const {
    const T x_barrier = math::min(x, x_linear);
    BarrierForce<T> at = force.calc(x_barrier);
    const T beyond = x - x_barrier;
    const auto is_beyond = beyond > 0;
    at.energy = is_beyond ? at.energy + at.f * beyond + at.df_dx * beyond * beyond / 2 : at.energy;
    at.f = is_beyond ? at.f + at.df_dx * beyond : at.f;
    return at;
  }

  /// Computes dt f of the state at the start of the step, which bounds lagged friction. If the gap
  /// is smaller than a hundredth of the thickness, or bodies overlap, f is taken at that distance.
  T calc_start_impulse(const T&) const {
    constexpr double kNearest = 0.01;
    return dt * force.calc(math::min(x0, -kNearest * force.d)).f;
  }

  /// Computes l(v) = U(x0 - dt v).
  T calc_cost(const T& v) const { return calc_force(x0 - dt * v).energy; }

  /// Returns the velocity above which the impulse is finite and that of the barrier itself, not of
  /// its extension [m/s]. Without an extension, a distance of a billionth of the thickness remains,
  /// so that rounding does not cross the barrier.
  T calc_min_velocity() const {
    constexpr double kClosest = 1e-9;
    return (x0 - math::min(x_linear, -kClosest * force.d)) / dt;
  }
  /// Returns this law with a linear extension.
  /// @param fraction distance at which the extension starts, relative to the thickness, > 0 [-]
  Barrier calc_extended(double fraction) const {
    return {.dt = dt, .x0 = x0, .force = force, .x_linear = -fraction * force.d};
  }
  /// Returns this law without an extension.
  Barrier without_extension() const {
    return {.dt = dt, .x0 = x0, .force = force, .x_linear = T{}};
  }
};

template <class T>
using LogBarrier = Barrier<T, LogBarrierForce>;
template <class T>
using IpcBarrier = Barrier<T, IpcBarrierForce>;

}  // namespace stiction::laws
