#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::laws {

using contact::Row;
using contact::RowKind;

/// The impulse of a scalar row and minus its derivative, at one velocity v_r = J v + b.
struct RowImpulse {
  double gamma = 0;      // [N s or N m s]
  double stiffness = 0;  // -d gamma / d v_r, >= 0
};

/// Computes the impulse of a scalar row, as RowKind says; not finite if validate refuses it.
inline RowImpulse calc_row_impulse(const Row& row, double v_r) {
  switch (row.kind) {
    case RowKind::kEquality:
      return {(row.target - v_r) / row.regularization, 1 / row.regularization};
    case RowKind::kSpring:
    case RowKind::kDrySpring: {
      const double gamma = (row.target - v_r) / row.regularization;
      if (gamma < row.impulse_range[0]) return {row.impulse_range[0], 0};
      if (gamma > row.impulse_range[1]) return {row.impulse_range[1], 0};
      return {gamma, 1 / row.regularization};
    }
    case RowKind::kLimit:
      if (v_r >= row.target) return {};
      return {(row.target - v_r) / row.regularization, 1 / row.regularization};
    case RowKind::kFriction: {
      // d(v / h)/dv = eps^2 / h^3, h^2 = v^2 + eps^2
      const double eps = row.slip_tolerance;
      const double inv_h = 1 / std::sqrt(v_r * v_r + eps * eps);
      const double ratio = eps * inv_h;
      return {-row.bound * v_r * inv_h, row.bound * ratio * ratio * inv_h};
    }
  }
  return {};
}

/// Returns the impulse of a row that moves by w per impulse from the velocity `free`, for dry
/// friction that of a spring that is cut at its bound.
/// @param w mobility >= 0 of the row
inline double solve_row_impulse(const Row& row, double free, double w) {
  if (row.kind == RowKind::kFriction) {
    const double softness = w + contact::calc_dry_compliance(row);
    return softness > 0 ? std::clamp(-free / softness, -row.bound, row.bound) : 0;
  }
  const double impulse = (row.target - free) / (row.regularization + w);
  if (row.kind == RowKind::kLimit) return std::max(0.0, impulse);
  if (is_spring(row)) return std::clamp(impulse, row.impulse_range[0], row.impulse_range[1]);
  return impulse;
}

/// Returns the convex cost of a scalar row [J]. The impulse is minus its derivative.
inline double calc_row_cost(const Row& row, double v_r) {
  if (row.kind == RowKind::kFriction) {
    const double eps = row.slip_tolerance;
    return row.bound * v_r * v_r / (std::sqrt(v_r * v_r + eps * eps) + eps);
  }
  const auto [gamma, stiffness] = calc_row_impulse(row, v_r);
  const double cost = 0.5 * row.regularization * gamma * gamma;
  if (!is_spring(row) || stiffness > 0) return cost;
  // At a bound of the impulse the cost continues as a line.
  return gamma * (row.target - v_r) - cost;
}

}  // namespace stiction::laws
