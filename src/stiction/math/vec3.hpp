#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/math/scalar_functions.hpp"

/// Vectors, matrices and poses of R^3 as plain data, for public headers without another's ABI.
namespace stiction::math {

struct Vec3 {
  double x = 0, y = 0, z = 0;

  double operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
  bool operator==(const Vec3&) const = default;
};

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
inline Vec3 operator*(const Vec3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline Vec3 operator*(double s, const Vec3& a) { return a * s; }
inline Vec3& operator+=(Vec3& a, const Vec3& b) { return a = a + b; }
inline Vec3& operator-=(Vec3& a, const Vec3& b) { return a = a - b; }
inline double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double norm(const Vec3& a) { return std::sqrt(dot(a, a)); }
inline Vec3 componentwise_min(const Vec3& a, const Vec3& b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}
inline Vec3 componentwise_max(const Vec3& a, const Vec3& b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}
inline bool is_finite(const Vec3& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

/// Returns a unit vector perpendicular to n, continuous except at n.z = 0. Source: [duff2017].
inline Vec3 make_tangent(const Vec3& n) {
  const double sign = std::copysign(1.0, n.z);
  const double a = -1 / (sign + n.z);
  return {1 + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x};
}

/// A 3 x 3 matrix, stored by rows; the identity by default.
struct Mat3 {
  Vec3 row[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
};

inline Vec3 operator*(const Mat3& m, const Vec3& a) {
  return {dot(m.row[0], a), dot(m.row[1], a), dot(m.row[2], a)};
}
/// Returns m^T a.
inline Vec3 transpose_times(const Mat3& m, const Vec3& a) {
  return m.row[0] * a.x + m.row[1] * a.y + m.row[2] * a.z;
}
/// Returns m^T n.
inline Mat3 transpose_times(const Mat3& m, const Mat3& n) {
  Mat3 product;
  for (int i = 0; i < 3; ++i)
    product.row[i] = n.row[0] * m.row[0][i] + n.row[1] * m.row[1][i] + n.row[2] * m.row[2][i];
  return product;
}
inline Mat3 operator*(const Mat3& m, const Mat3& n) {
  Mat3 product;
  for (int i = 0; i < 3; ++i)
    product.row[i] = n.row[0] * m.row[i].x + n.row[1] * m.row[i].y + n.row[2] * m.row[i].z;
  return product;
}

/// A pose X_AB of frame B in frame A: x in B has the coordinates R_AB x + p_AoBo_A in A.
struct RigidTransform {
  Mat3 R;
  Vec3 p;  // [m]
};

inline Vec3 operator*(const RigidTransform& X, const Vec3& x) { return X.R * x + X.p; }
inline RigidTransform operator*(const RigidTransform& X, const RigidTransform& Y) {
  return {X.R * Y.R, X * Y.p};
}
/// Returns X^-1 Y. For X = X_WA and Y = X_WB this is X_AB.
inline RigidTransform inverse_times(const RigidTransform& X, const RigidTransform& Y) {
  return {transpose_times(X.R, Y.R), transpose_times(X.R, Y.p - X.p)};
}

/// A symmetric 2x2 matrix, for example of second moments in a plane.
struct Symmetric2 {
  double xx = 0, xy = 0, yy = 0;
};

/// The eigenvalues of a symmetric 2x2 matrix, and the unit eigenvector (x, y) of the larger one.
struct PrincipalAxes {
  double least, most, x, y;
};

inline PrincipalAxes calc_principal_axes(const Symmetric2& m) {
  const double mean = 0.5 * (m.xx + m.yy), half = 0.5 * (m.xx - m.yy);
  const double radius = math::hypot(half, m.xy), angle = 0.5 * math::atan2(m.xy, half);
  return {mean - radius, mean + radius, math::cos(angle), math::sin(angle)};
}

}  // namespace stiction::math
