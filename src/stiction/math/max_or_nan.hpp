#pragma once

namespace stiction::math {

/// Returns the larger of two numbers, or NaN if either is NaN. std::max(a, b) drops a NaN in b.
constexpr double max_or_nan(double a, double b) {
  if (a >= b) return a;
  return b > a ? b : a + b;
}

}  // namespace stiction::math
