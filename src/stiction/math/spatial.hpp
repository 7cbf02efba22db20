#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

/// Spatial vectors V = [w; v] of R^6: the angular part comes first, in the world frame.
namespace stiction::math {

using Vector3 = Eigen::Vector3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix3 = Eigen::Matrix3d;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

/// Returns the matrix [r]_x of the cross product: [r]_x a = r x a.
inline Matrix3 cross_matrix(const Vector3& r) {
  Matrix3 m;
  m << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
  return m;
}

}  // namespace stiction::math
