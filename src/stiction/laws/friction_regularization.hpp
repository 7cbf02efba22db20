#pragma once

#include "stiction/laws/curvature.hpp"
#include "stiction/math/lanes.hpp"

/// Regularized friction: the soft norm of a slip velocity and its derivatives.
namespace stiction::laws {

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
  /// True if the slip speed is above the tolerance. A mask if T is lanes.
  auto is_slipping() const { return squared_slip() > eps * eps; }
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

}  // namespace stiction::laws
