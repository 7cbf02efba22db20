#pragma once

#include <cmath>
#include <cstring>

#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/six.hpp"

/// Four numbers side by side: the arithmetic of contact laws, which are evaluated for four contacts
/// at a time. Laws are written without branches, as `mask ? a : b`, so the same template works for
/// a double and for Lanes. The functions that laws need exist for both types.
namespace stiction::math {

using Lanes = Vec4;
inline constexpr int kNumLanes = 4;

/// Returns n rounded up to a multiple of the lanes.
inline int round_up(int n) { return (n + kNumLanes - 1) / kNumLanes * kNumLanes; }

/// Returns x in every lane.
inline Lanes broadcast(double x) { return broadcast_to<Lanes>(x); }
/// The result of a comparison of Lanes.
using LaneMask = decltype(Lanes{} > Lanes{});
/// Returns the lanes where a comparison is true: bit i stands for lane i.
inline unsigned true_lanes(const LaneMask& mask) {
#ifdef __AVX__
  Lanes lanes;
  std::memcpy(&lanes, &mask, sizeof lanes);
  return static_cast<unsigned>(__builtin_ia32_movmskpd256(lanes));
#else
  return (mask[0] & 1U) + (mask[1] & 2U) + (mask[2] & 4U) + (mask[3] & 8U);
#endif
}
/// Returns the sum of the four lanes.
inline double sum(const Lanes& a) { return (a[0] + a[2]) + (a[1] + a[3]); }

/// Returns {sum(a), sum(b), sum(c), sum(d)}, with the same bits as `sum`.
inline Lanes sum_each(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
  // ab = {a0 + a2, a1 + a3, b0 + b2, b1 + b3}; cd is the same for c and d.
  const Lanes ab =
      __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const Lanes cd =
      __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

struct FourLanes {
  Lanes a, b, c, d;
};
/// Transposes four rows of four: lane i of the k-th result is lane k of the i-th argument.
inline FourLanes transpose(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
  const Lanes ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Lanes ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lanes cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Lanes cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return {__builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5),
          __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5),
          __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7),
          __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7)};
}

/// Stores the first `count` lanes, at most all.
inline void store_first(int count, const Lanes& a, double* p) {
  if (count >= kNumLanes) return store(p, a);
  for (int i = 0; i < count; ++i) p[i] = a[i];
}

inline double sqrt(double x) { return std::sqrt(x); }
inline Lanes sqrt(const Lanes& x) {
#ifdef __AVX__
  return __builtin_ia32_sqrtpd256(x);
#else
  return Lanes{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
#endif
}

/// Returns the larger of a and b, lane by lane; b where a is not a number.
template <class T>
T max(const T& a, const T& b) {
  return a > b ? a : b;
}
/// Returns the smaller of a and b, lane by lane; b where a is not a number.
template <class T>
T min(const T& a, const T& b) {
  return a < b ? a : b;
}

/// Four vectors of R^3, one per lane.
struct Lanes3 {
  Lanes x, y, z;
};

inline Lanes3 operator+(const Lanes3& a, const Lanes3& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Lanes3 operator*(const Lanes3& a, const Lanes& s) { return {a.x * s, a.y * s, a.z * s}; }
inline Lanes3& operator+=(Lanes3& a, const Lanes3& b) { return a = a + b; }
/// Returns a s + b.
inline Lanes3 multiply_add(const Lanes3& a, const Lanes& s, const Lanes3& b) {
  return {multiply_add(a.x, s, b.x), multiply_add(a.y, s, b.y), multiply_add(a.z, s, b.z)};
}
inline Lanes dot(const Lanes3& a, const Lanes3& b) {
  return multiply_add(a.z, b.z, multiply_add(a.y, b.y, a.x * b.x));
}
inline Lanes3 cross(const Lanes3& a, const Lanes3& b) {
  return {multiply_add(a.y, b.z, -a.z * b.y), multiply_add(a.z, b.x, -a.x * b.z),
          multiply_add(a.x, b.y, -a.y * b.x)};
}

/// Four symmetric 3 x 3 matrices, one per lane.
struct LanesSymmetric3 {
  Lanes xx, xy, yy, xz, yz, zz;
};

inline Lanes3 operator*(const LanesSymmetric3& m, const Lanes3& a) {
  return {dot(Lanes3{m.xx, m.xy, m.xz}, a), dot(Lanes3{m.xy, m.yy, m.yz}, a),
          dot(Lanes3{m.xz, m.yz, m.zz}, a)};
}
inline LanesSymmetric3& operator+=(LanesSymmetric3& a, const LanesSymmetric3& b) {
  a.xx += b.xx;
  a.xy += b.xy;
  a.yy += b.yy;
  a.xz += b.xz;
  a.yz += b.yz;
  a.zz += b.zz;
  return a;
}

// Elementary functions, which evaluate one lane at a time: only rare laws need them.

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
