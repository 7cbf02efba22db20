#pragma once

#include "stiction/contact/law_tables.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"
#include "stiction/math/lanes.hpp"

/// Regularized friction: the soft norm of a slip velocity and its derivatives.
namespace stiction::laws {

/// Friction counts as at its bound from this share on, where more slip adds less than the rest of
/// it [-]. Laws that reach the bound only at an infinite slip need such a limit.
inline constexpr double kShareAtBound = 0.99;

/// The soft norm of a slip u with tolerance eps. With h = sqrt(u.u + eps^2),
///
///     |u|_s = h - eps,   t = u / h,   dt/du = (I - t t^T) / h.
///
/// Source: [castro2023] appendix A, eqs. (45)-(47); [theory:soft-norm]. The formulas have no
/// cancellation for any |u| / eps. T is a double, or lanes of four contacts.
template <int kSize, class T>
struct SoftNorm {
  T u[kSize];  // slip [m/s]
  T eps{};     // slip tolerance [m/s]
  T inv_h{};   // 1 / h [s/m]
  T t[kSize];  // direction of friction, |t| < 1

  SoftNorm() : u{}, t{} {}
  /// @param slip      kSize components [m/s]
  /// @param tolerance slip tolerance > 0 [m/s]
  SoftNorm(const T* slip, const T& tolerance) : eps(tolerance) {
    for (int i = 0; i < kSize; ++i) u[i] = slip[i];
    inv_h = 1 / math::sqrt(squared_slip() + eps * eps);
    for (int i = 0; i < kSize; ++i) t[i] = u[i] * inv_h;
  }

  T squared_slip() const {
    T sum = u[0] * u[0];
    for (int i = 1; i < kSize; ++i) sum += u[i] * u[i];
    return sum;
  }
  /// True if friction is at its bound, |t| >= kShareAtBound. A mask if T is lanes.
  auto is_slipping() const {
    constexpr double kSquare = kShareAtBound * kShareAtBound;
    return squared_slip() * inv_h * inv_h >= kSquare;
  }
  /// True if the slip speed is above the tolerance. A mask if T is lanes.
  auto is_beyond_tolerance() const { return squared_slip() > eps * eps; }
  /// |u|_s [m/s].
  T norm() const { return squared_slip() / (1 / inv_h + eps); }

  /// Returns the first derivative of |u + a du|_s with respect to a, at a = 0.
  T slope_along(const T* du) const {
    T dot = u[0] * du[0];
    for (int i = 1; i < kSize; ++i) dot += u[i] * du[i];
    return inv_h * dot;
  }
  /// Returns the second derivative of |u + a du|_s with respect to a, at a = 0: with Lagrange's
  /// identity, (eps^2 |du|^2 + |u x du|^2) / h^3.
  T curvature_along(const T* du) const {
    T square = du[0] * du[0];
    for (int i = 1; i < kSize; ++i) square += du[i] * du[i];
    T sum = eps * eps * square;
    for (int i = 0; i < kSize; ++i) {
      for (int j = i + 1; j < kSize; ++j) {
        const T across = u[i] * du[j] - u[j] * du[i];
        sum += across * across;
      }
    }
    return sum * inv_h * inv_h * inv_h;
  }

  /// Returns entry (i, j) of the exact curvature dt/du or of the secant curvature I / h. The
  /// diagonal of dt/du is a sum of squares, from 1 - t_i^2 = (eps^2 + sum_{j != i} u_j^2) / h^2.
  T curvature(int i, int j, Curvature kind) const {
    if (kind == Curvature::kSecant) return i == j ? inv_h : T{};
    const T scale = inv_h * inv_h * inv_h;
    if (i != j) return -scale * u[i] * u[j];
    T others = eps * eps;
    for (int k = 0; k < kSize; ++k)
      if (k != i) others += u[k] * u[k];
    return scale * others;
  }
};

// Regularized friction with any function f(s) of the relative slip s = |u| / eps that increases
// from f(0) = 0 towards 1, while f(s) / s does not increase. With F' = f and F(0) = 0,
//
//     |u|_f = eps F(s),   t = d|u|_f/du = f(s) u / |u|,
//     dt/du = f'(s)/eps u u^T / |u|^2 + f(s)/|u| (I - u u^T / |u|^2).
//
// Source: [castro2023] section V; [theory:friction-regularization].

using contact::FrictionRegularizationKind;

/// F(s) / s^2, f(s) / s and f'(s). They are finite at all s, and no digits cancel in them.
template <class T>
struct SlipFunction {
  T F_over_s2{}, f_over_s{}, df_ds{};
};

/// f = s / sqrt(1 + s^2), F = sqrt(1 + s^2) - 1.
template <class T>
SlipFunction<T> calc_soft(const T& s) {
  const T h = math::sqrt(1 + s * s);
  return {1 / (h + 1), 1 / h, 1 / (h * h * h)};
}

/// f = s (2 - s) up to s = 1, where slip begins, and 1 beyond; F = s^2 - s^3 / 3, then s - 1/3.
template <class T>
SlipFunction<T> calc_quadratic(const T& s) {
  const auto sticks = s < 1;
  const T slip = math::max(s, math::broadcast_to<T>(1));
  return {sticks ? 1 - s / 3 : (slip - 1.0 / 3) / (slip * slip), sticks ? 2 - s : 1 / slip,
          sticks ? 2 - 2 * s : T{}};
}

/// f = 2/pi atan s, F = 2/pi (s atan s - 1/2 ln(1 + s^2)).
template <class T>
SlipFunction<T> calc_arctan(const T& s) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  // Below this slip the first term of each series is exact to rounding.
  constexpr double kTiny = 1e-8;
  const T safe = math::max(s, math::broadcast_to<T>(kTiny));
  const T over_s = math::atan(safe) / safe;
  const T logarithm = math::log1p(safe * safe) / (2 * safe * safe);
  const auto is_tiny = s < kTiny;
  return {kTwoOverPi * (is_tiny ? math::broadcast_to<T>(0.5) : over_s - logarithm),
          kTwoOverPi * (is_tiny ? math::broadcast_to<T>(1) : over_s), kTwoOverPi / (1 + s * s)};
}

/// f = min(s, 1), F = s^2 / 2 up to s = 1, where slip begins, and s - 1/2 beyond. F is Huber's
/// function. It is that of a spring that yields at the friction bound; see ElasticStick.
template <class T>
SlipFunction<T> calc_huber(const T& s) {
  const auto sticks = s <= 1;
  const T slip = math::max(s, math::broadcast_to<T>(1));
  return {sticks ? math::broadcast_to<T>(0.5) : (slip - 0.5) / (slip * slip),
          sticks ? math::broadcast_to<T>(1) : 1 / slip, sticks ? math::broadcast_to<T>(1) : T{}};
}

/// The function of a table, one lane after the other.
template <class T>
SlipFunction<T> calc_tabulated(const contact::TabulatedFriction& table, const T& s) {
  SlipFunction<T> out;
  for (int i = 0; i < math::count_lanes<T>(); ++i) {
    const auto at = table.calc(math::get_lane(s, i));
    math::set_lane(&out.F_over_s2, i, at.F_over_s2);
    math::set_lane(&out.f_over_s, i, at.f_over_s);
    math::set_lane(&out.df_ds, i, at.df_ds);
  }
  return out;
}

/// A function that is chosen at run time.
struct ChosenSlipFunction {
  ChosenSlipFunction(FrictionRegularizationKind k,  // NOLINT: the kind is enough for most
                     const contact::TabulatedFriction* t = nullptr)
      : kind(k), table(t) {}

  FrictionRegularizationKind kind;
  const contact::TabulatedFriction* table;  // of the kind `custom`
};

template <class T>
SlipFunction<T> calc_slip_function(const ChosenSlipFunction& function, const T& s) {
  switch (function.kind) {
    case FrictionRegularizationKind::soft:
    case FrictionRegularizationKind::automatic: break;
    case FrictionRegularizationKind::quadratic: return calc_quadratic(s);
    case FrictionRegularizationKind::arctan: return calc_arctan(s);
    case FrictionRegularizationKind::elastic: return calc_huber(s);
    case FrictionRegularizationKind::custom: return calc_tabulated(*function.table, s);
  }
  return calc_soft(s);
}

/// The regularized norm of a slip, its gradient and Hessian, with a function chosen at run time.
/// For the soft function SoftNorm is the same norm. T is a double, or lanes of four contacts.
template <int kSize, class T>
struct SlipNorm {
  T u[kSize];
  T eps{};
  T squared{};  // u . u
  T F_over_s2{};
  T across{};  // f / |u|: curvature across the slip
  T along{};   // f' / eps: curvature along it
  T t[kSize];  // f u / |u|, |t| <= 1

  SlipNorm() : u{}, t{} {}
  /// @param slip kSize components [m/s]
  /// @param tolerance > 0 [m/s]
  SlipNorm(const T* slip, const T& tolerance, const ChosenSlipFunction& function) : eps(tolerance) {
    for (int i = 0; i < kSize; ++i) u[i] = slip[i];
    squared = u[0] * u[0];
    for (int i = 1; i < kSize; ++i) squared += u[i] * u[i];
    const SlipFunction<T> at = calc_slip_function(function, T(math::sqrt(squared) / eps));
    F_over_s2 = at.F_over_s2;
    across = at.f_over_s / eps;
    along = at.df_ds / eps;
    for (int i = 0; i < kSize; ++i) t[i] = across * u[i];
  }

  /// True if friction is at its bound: f >= kShareAtBound, and no longer proportional to the slip,
  /// as that of a spring that holds. A mask if T is lanes.
  auto is_slipping() const {
    const T speed = math::sqrt(squared);
    return (across * speed >= kShareAtBound) & (along * speed <= 2 * (1 - kShareAtBound));
  }
  /// True if the slip speed is above the tolerance. A mask if T is lanes.
  auto is_beyond_tolerance() const { return squared > eps * eps; }
  /// |u|_f [m/s].
  T norm() const { return F_over_s2 * squared / eps; }

  /// Returns the first derivative of |u + a du|_f with respect to a, at a = 0.
  T slope_along(const T* du) const {
    T sum = t[0] * du[0];
    for (int i = 1; i < kSize; ++i) sum += t[i] * du[i];
    return sum;
  }
  /// Returns the second derivative of |u + a du|_f with respect to a, at a = 0.
  T curvature_along(const T* du) const {
    T sum{};
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j)
        sum += du[i] * curvature(i, j, laws::Curvature::kExact) * du[j];
    return sum;
  }

  /// Returns entry (i, j) of the exact curvature dt/du, or of the secant curvature f/|u| I.
  T curvature(int i, int j, Curvature kind) const {
    if (kind == Curvature::kSecant) return i == j ? across : T{};
    // Without slip both curvatures are f'(0)/eps.
    const auto has_slip = squared > 0;
    const T safe = has_slip ? squared : math::broadcast_to<T>(1);
    if (i != j) return (along - across) * (u[i] * u[j] / safe);
    T others{};
    for (int k = 0; k < kSize; ++k)
      if (k != i) others += u[k] * u[k];
    return has_slip ? across * (others / safe) + along * (u[i] * u[i] / safe) : along;
  }
};

}  // namespace stiction::laws
