#pragma once

#include <cmath>

#include "stiction/math/lanes.hpp"

/// Elementary functions of lanes, one lane at a time: for laws that are chosen rarely enough that
/// this will do.
namespace stiction::math {

/// The numbers of T, and one of them.
template <class T>
constexpr int count_lanes() {
  return sizeof(T) / sizeof(double);
}
inline double get_lane(double x, int) { return x; }
inline double get_lane(const Lanes& x, int i) { return x[i]; }
inline void set_lane(double* x, int, double value) { *x = value; }
inline void set_lane(Lanes* x, int i, double value) { (*x)[i] = value; }

/// f of each number.
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

template <class T>
T log(const T& x) {
  return map(x, [](double a) { return std::log(a); });
}
template <class T>
T log1p(const T& x) {
  return map(x, [](double a) { return std::log1p(a); });
}
template <class T>
T atan(const T& x) {
  return map(x, [](double a) { return std::atan(a); });
}

}  // namespace stiction::math
