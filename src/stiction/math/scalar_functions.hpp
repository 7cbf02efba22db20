#pragma once

/// Elementary functions.
///
/// They replace those of the C library, whose last bits differ between systems, versions and
/// processors. They use IEEE 754 operations, which round alike everywhere, in a fixed order, so
/// results have the same bits on every machine. The error is at most 2.5 units in the last place,
/// of hypot and cbrt 1. Zeros, infinities and not-a-numbers are treated as in C.
namespace stiction::math {

double exp(double x);
double log(double x);
/// Returns log(1 + x).
double log1p(double x);
double atan(double x);
double atan2(double y, double x);
/// Returns the sine of an angle of at most kLargestAngle; of a larger one, not a number.
double sin(double x);
/// Returns the cosine of an angle of at most kLargestAngle; of a larger one, not a number.
double cos(double x);
inline constexpr double kLargestAngle = 0x1p20;
double hypot(double x, double y);
inline double hypot(double x, double y, double z) { return hypot(hypot(x, y), z); }
double cbrt(double x);
inline double square(double x) { return x * x; }

/// Returns the larger of two numbers, or NaN if either is NaN. std::max(a, b) drops a NaN in b.
constexpr double max_or_nan(double a, double b) {
  if (a >= b) return a;
  return b > a ? b : a + b;
}

}  // namespace stiction::math
