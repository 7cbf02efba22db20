#pragma once

#include "stiction/math/six.hpp"

/// Numbers with about 106 bits, the same on every machine. A `long double` has 64 bits on x86-64,
/// 113 on Linux for arm64, and 53 on Windows and on Apple's arm64.
namespace stiction::math {

/// The sum of two doubles, of which `low` is at most half a unit in the last place of `high`. Sums
/// and products have relative errors of a few units of 2^-104 of their largest term [dekker1971].
struct DoubleDouble {
  double high = 0, low = 0;

  DoubleDouble() = default;
  DoubleDouble(double x) : high(x) {}  // NOLINT: every double is one
  explicit operator double() const { return high; }

  /// Returns a + b with |a| >= |b|, exactly.
  static DoubleDouble sum_sorted(double a, double b) {
    DoubleDouble sum(a + b);
    sum.low = b - (sum.high - a);
    return sum;
  }
  /// Returns a + b, exactly.
  static DoubleDouble sum(double a, double b) {
    DoubleDouble sum(a + b);
    const double b_part = sum.high - a;
    sum.low = (a - (sum.high - b_part)) + (b - b_part);
    return sum;
  }
  /// Returns a b, exactly.
  static DoubleDouble product(double a, double b) {
    DoubleDouble product(a * b);
    product.low = multiply_add(a, b, -product.high);
    return product;
  }
};

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble high = DoubleDouble::sum(a.high, b.high);
  const DoubleDouble low = DoubleDouble::sum(a.low, b.low);
  const DoubleDouble sum = DoubleDouble::sum_sorted(high.high, high.low + low.high);
  return DoubleDouble::sum_sorted(sum.high, sum.low + low.low);
}
inline DoubleDouble operator-(const DoubleDouble& a) {
  DoubleDouble minus(-a.high);
  minus.low = -a.low;
  return minus;
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
inline DoubleDouble operator*(double a, const DoubleDouble& b) {
  const DoubleDouble high = DoubleDouble::product(a, b.high);
  return DoubleDouble::sum_sorted(high.high, multiply_add(a, b.low, high.low));
}
inline DoubleDouble operator*(const DoubleDouble& a, double b) { return b * a; }
inline DoubleDouble& operator+=(DoubleDouble& a, const DoubleDouble& b) { return a = a + b; }

}  // namespace stiction::math
