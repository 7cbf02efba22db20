#pragma once

#include <cstring>

/// Vectors and matrices of six in SIMD registers: the arithmetic of free bodies and body pairs.
///
/// A six is four lanes and two lanes of GCC vector types, which compile to AVX or SSE. Sums are in
/// one fixed order, so results are the same bits on every call.
namespace stiction::math {

typedef double Vec4 __attribute__((vector_size(32)));
typedef double Vec2 __attribute__((vector_size(16)));

/// Unaligned load and store: blocks start at any double.
template <class V>
inline V load(const double* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
inline void store(double* p, V v) {
  std::memcpy(p, &v, sizeof v);
}

struct Six {
  Vec4 lo;
  Vec2 hi;

  static Six load(const double* p) { return {math::load<Vec4>(p), math::load<Vec2>(p + 4)}; }
  static Six zero() { return {Vec4{}, Vec2{}}; }
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

inline double dot(const Six& a, const Six& b) {
  const Vec4 lo = a.lo * b.lo;
  const Vec2 hi = a.hi * b.hi;
  const Vec2 sum = Vec2{lo[0], lo[1]} + Vec2{lo[2], lo[3]} + hi;
  return sum[0] + sum[1];
}

/// A 6 x 6 matrix by columns.
struct SixBySix {
  Six column[6];

  static SixBySix zero() {
    SixBySix m;
    for (Six& c : m.column) c = Six::zero();
    return m;
  }
  static SixBySix load(const double* p, int stride) {
    SixBySix m;
    for (int j = 0; j < 6; ++j) m.column[j] = Six::load(p + j * stride);
    return m;
  }
  void add_to(double* p, int stride) const {
    for (int j = 0; j < 6; ++j) (Six::load(p + j * stride) + column[j]).store(p + j * stride);
  }
  SixBySix transposed() const {
    double a[36];
    for (int j = 0; j < 6; ++j) column[j].store(a + 6 * j);
    double t[36];
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) t[6 * i + j] = a[6 * j + i];
    return load(t, 6);
  }
};

/// M x, with M column-major with a stride.
inline Six multiply(const double* M, int stride, const double* x) {
  Six y = Six::load(M) * x[0];
  for (int j = 1; j < 6; ++j) y += Six::load(M + j * stride) * x[j];
  return y;
}

/// [w; v] moved by r: [w; v + w x r].
inline Six shift_velocity(const Six& V, const double* r) {
  const double wx = V[0], wy = V[1], wz = V[2];
  const Six change = {Vec4{0, 0, 0, wy * r[2] - wz * r[1]},
                      Vec2{wz * r[0] - wx * r[2], wx * r[1] - wy * r[0]}};
  return V + change;
}

/// Its transpose, for a wrench [t; f]: [t + r x f; f].
inline Six shift_wrench(const Six& F, const double* r) {
  const double fx = F[3], fy = F[4], fz = F[5];
  const Six change = {Vec4{r[1] * fz - r[2] * fy, r[2] * fx - r[0] * fz, r[0] * fy - r[1] * fx, 0},
                      Vec2{0, 0}};
  return F + change;
}

}  // namespace stiction::math
