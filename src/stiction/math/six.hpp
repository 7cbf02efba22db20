#pragma once

#include <cmath>
#include <cstring>

/// Vectors and matrices of size six in SIMD registers: the arithmetic of free bodies and body
/// pairs.
///
/// A Six consists of a GCC vector of four lanes and one of two lanes, which compile to AVX or SSE.
/// Sums have a fixed order, so results are bitwise reproducible.
namespace stiction::math {

typedef double Vec4 __attribute__((vector_size(32)));
typedef double Vec2 __attribute__((vector_size(16)));

/// Loads a vector from any address of a double; no alignment is required.
template <class V>
inline V load(const double* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
/// Stores a vector at any address of a double; no alignment is required.
template <class V>
inline void store(double* p, V v) {
  std::memcpy(p, &v, sizeof v);
}

/// Loads a vector of R^3. The fourth lane repeats the third.
inline Vec4 load_three(const double* p) { return Vec4{p[0], p[1], p[2], p[2]}; }
/// Stores the first three lanes.
inline void store_three(double* p, const Vec4& v) {
  store(p, __builtin_shufflevector(v, v, 0, 1));
  p[2] = v[2];
}

/// Returns a b + c, rounded once: explicit, so that every machine gives the same bits.
inline double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }
inline Vec4 multiply_add(Vec4 a, Vec4 b, Vec4 c) {
#ifdef __FMA__
  return __builtin_ia32_vfmaddpd256(a, b, c);
#else
  return Vec4{std::fma(a[0], b[0], c[0]), std::fma(a[1], b[1], c[1]), std::fma(a[2], b[2], c[2]),
              std::fma(a[3], b[3], c[3])};
#endif
}
inline Vec2 multiply_add(Vec2 a, Vec2 b, Vec2 c) {
#ifdef __FMA__
  return __builtin_ia32_vfmaddpd(a, b, c);
#else
  return Vec2{std::fma(a[0], b[0], c[0]), std::fma(a[1], b[1], c[1])};
#endif
}
/// Returns x in every lane. (V{} + x would add and turn -0 into 0.)
template <class V>
V broadcast_to(double x);
template <>
inline double broadcast_to<double>(double x) {
  return x;
}
template <>
inline Vec2 broadcast_to<Vec2>(double x) {
  return Vec2{x, x};
}
template <>
inline Vec4 broadcast_to<Vec4>(double x) {
  return Vec4{x, x, x, x};
}
template <class V>
V multiply_add(V a, double b, V c) {
  return multiply_add(a, broadcast_to<V>(b), c);
}

/// Returns c - a b, rounded once, by one instruction, which needs a whole vector negated.
template <class V>
V multiply_subtract(V a, double b, V c) {
  return multiply_add(-a, broadcast_to<V>(b), c);
}

/// A vector of six numbers.
struct Six {
  Vec4 lo;  // entries 0 .. 3
  Vec2 hi;  // entries 4 and 5

  static Six load(const double* p) { return {math::load<Vec4>(p), math::load<Vec2>(p + 4)}; }
  static Six zero() { return {Vec4{}, Vec2{}}; }
  /// Returns the unit vector along axis i.
  static Six unit(int i) {
    return {Vec4{i == 0 ? 1.0 : 0, i == 1 ? 1.0 : 0, i == 2 ? 1.0 : 0, i == 3 ? 1.0 : 0},
            Vec2{i == 4 ? 1.0 : 0, i == 5 ? 1.0 : 0}};
  }
  void store(double* p) const {
    math::store(p, lo);
    math::store(p + 4, hi);
  }
  double operator[](int i) const { return i < 4 ? lo[i] : hi[i - 4]; }

  Six& operator+=(const Six& b) {
    lo += b.lo;
    hi += b.hi;
    return *this;
  }
  Six& operator-=(const Six& b) {
    lo -= b.lo;
    hi -= b.hi;
    return *this;
  }
};

inline Six operator*(const Six& a, double s) { return {a.lo * s, a.hi * s}; }
inline Six operator+(const Six& a, const Six& b) { return {a.lo + b.lo, a.hi + b.hi}; }
inline Six operator-(const Six& a, const Six& b) { return {a.lo - b.lo, a.hi - b.hi}; }

/// Returns a s + b.
inline Six multiply_add(const Six& a, double s, const Six& b) {
  const Vec4 all = broadcast_to<Vec4>(s);  // once for both parts
  return {multiply_add(a.lo, all, b.lo),
          multiply_add(a.hi, __builtin_shufflevector(all, all, 0, 1), b.hi)};
}
/// Returns b - a s.
inline Six multiply_subtract(const Six& a, double s, const Six& b) {
  const Vec4 all = broadcast_to<Vec4>(s);
  return {multiply_add(-a.lo, all, b.lo),
          multiply_add(-a.hi, __builtin_shufflevector(all, all, 0, 1), b.hi)};
}

inline double dot(const Six& a, const Six& b) {
  const Vec4 lo = a.lo * b.lo;
  const Vec2 low = {lo[0], lo[1]}, high = {lo[2], lo[3]};
  const Vec2 sum = multiply_add(a.hi, b.hi, low + high);
  return sum[0] + sum[1];
}

/// A 6 x 6 matrix, stored by columns.
struct SixBySix {
  Six column[6];

  static SixBySix zero() {
    SixBySix m;
    for (Six& c : m.column) c = Six::zero();
    return m;
  }
  /// Loads a column-major matrix.
  static SixBySix load(const double* p, int stride) {
    SixBySix m;
    for (int j = 0; j < 6; ++j) m.column[j] = Six::load(p + j * stride);
    return m;
  }
  SixBySix& operator+=(const SixBySix& b) {
    for (int j = 0; j < 6; ++j) column[j] += b.column[j];
    return *this;
  }
  /// Adds this matrix to a column-major one.
  void add_to(double* p, int stride) const {
    for (int j = 0; j < 6; ++j) (Six::load(p + j * stride) + column[j]).store(p + j * stride);
  }
};

/// Returns M x.
inline Six operator*(const SixBySix& M, const double* x) {
  const Six* c = M.column;
  // Two independent chains of sums run in parallel.
  const Six even = multiply_add(c[4], x[4], multiply_add(c[2], x[2], c[0] * x[0]));
  const Six odd = multiply_add(c[5], x[5], multiply_add(c[3], x[3], c[1] * x[1]));
  return even + odd;
}

/// Returns M x for a column-major M.
inline Six multiply(const double* M, int stride, const double* x) {
  return SixBySix::load(M, stride) * x;
}

/// Returns M^T x for a column-major M.
inline Six multiply_transposed(const double* M, int stride, const Six& x) {
  return {Vec4{dot(Six::load(M), x), dot(Six::load(M + stride), x),
               dot(Six::load(M + 2 * stride), x), dot(Six::load(M + 3 * stride), x)},
          Vec2{dot(Six::load(M + 4 * stride), x), dot(Six::load(M + 5 * stride), x)}};
}

/// Returns the velocity V = [w; v] of a rigid body at a point shifted by r: [w; v + w x r].
inline Six shift_velocity(const Six& V, const double* r) {
  const double wx = V[0], wy = V[1], wz = V[2];
  return {Vec4{V[0], V[1], V[2], multiply_add(wy, r[2], multiply_add(-wz, r[1], V[3]))},
          Vec2{multiply_add(wz, r[0], multiply_add(-wx, r[2], V[4])),
               multiply_add(wx, r[1], multiply_add(-wy, r[0], V[5]))}};
}

/// Returns the wrench about the original point of a wrench F = [t; f] that acts at a point shifted
/// by r: [t + r x f; f]. This is the transpose of shift_velocity.
inline Six shift_wrench(const Six& F, const double* r) {
  // {fy, fz, fx, 0} and {fz, fx, fy, 0}
  const Vec4 f = {F.lo[3], F.hi[0], F.hi[1], 0};
  const Vec4 f1 = __builtin_shufflevector(f, f, 1, 2, 0, 3);
  const Vec4 f2 = __builtin_shufflevector(f, f, 2, 0, 1, 3);
  const Vec4 r1 = {r[1], r[2], r[0], 0}, r2 = {r[2], r[0], r[1], 0};
  // r x f = {ry fz - rz fy, ...}
  return {multiply_add(r1, f2, multiply_add(-r2, f1, F.lo)), F.hi};
}

// Numbers with about 106 bits, the same on every machine. A `long double` has 64 bits on x86-64,
// 113 on Linux for arm64, and 53 on Windows and on Apple's arm64.

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
