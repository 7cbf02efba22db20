#pragma once

#include "stiction/math/lanes.hpp"
#include "stiction/math/scalar_functions.hpp"

/// Elementary functions of Lanes. They evaluate one lane at a time, which is fast enough for the
/// laws that need them, because these laws are rarely used.
namespace stiction::math {

/// Returns the number of lanes of T: 1 for a double, 4 for Lanes.
template <class T>
constexpr int count_lanes() {
  return sizeof(T) / sizeof(double);
}
/// Returns lane i of x; a double has one lane.
inline double get_lane(double x, int) { return x; }
inline double get_lane(const Lanes& x, int i) { return x[i]; }
/// Sets lane i of x; a double has one lane.
inline void set_lane(double* x, int, double value) { *x = value; }
inline void set_lane(Lanes* x, int i, double value) { (*x)[i] = value; }

/// Returns f(x), lane by lane.
template <class F>
double map(double x, F&& f) {
  return f(x);
}
template <class F>
Lanes map(const Lanes& x, F&& f) {
  Lanes y = x;
  for (int i = 0; i < kNumLanes; ++i) y[i] = f(x[i]);
  return y;
}

inline Lanes log(const Lanes& x) {
  return map(x, [](double a) { return log(a); });
}
inline Lanes log1p(const Lanes& x) {
  return map(x, [](double a) { return log1p(a); });
}
inline Lanes atan(const Lanes& x) {
  return map(x, [](double a) { return atan(a); });
}

}  // namespace stiction::math
