#pragma once

#include <cmath>
#include <cstddef>
#include <random>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "formulations/rigid/reduced_numbers.hpp"

namespace stiction::formulations {

/// Makes a body of 1 kg that reaches a plane with four corners of a square, or first with two of
/// them. Its center of mass is 0.22 m away from the middle of the square, mostly above it, and its
/// radius of gyration is 0.0316 m.
inline ReducedNumbers make_eccentric_body(std::mt19937_64* rng) {
  constexpr double kHalfSide = 0.05, kDistance = 0.22, kRadiusOfGyration = 0.0316;
  using Eigen::Vector3d;
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  ReducedNumbers out(6, 4, 0, 0);
  const double height = 0.7 + 0.3 * unit(*rng), azimuth = 6.283 * unit(*rng);
  const double side = std::sqrt(1 - height * height);
  const Vector3d center =
      kDistance * Vector3d(side * std::cos(azimuth), side * std::sin(azimuth), height);
  const double late = 0.15 * unit(*rng);  // gap of two corners per time step [m/s]
  for (int i = 0; i < 4; ++i) {
    const double x = i < 2 ? kHalfSide : -kHalfSide, y = i % 2 == 0 ? kHalfSide : -kHalfSide;
    const Vector3d arm = Vector3d(x, y, 0) - center;
    double* const rows[] = {&out.N[static_cast<std::size_t>(6) * i],
                            &out.T[static_cast<std::size_t>(12) * i],
                            &out.T[static_cast<std::size_t>(12) * i + 6]};
    const Vector3d axes[] = {Vector3d::UnitZ(), Vector3d::UnitX(), Vector3d::UnitY()};
    for (int k = 0; k < 3; ++k) {
      Eigen::Map<Eigen::Vector<double, 6>> row(rows[k]);
      row << axes[k], arm.cross(axes[k]) / kRadiusOfGyration;
    }
    out.b_n[i] = i < 2 ? 0 : late;
    out.mu[i] = 0.6;
  }
  for (int k = 0; k < 3; ++k) out.u_hat[k] = normal(*rng);
  out.u_hat[2] = -0.3 * std::abs(out.u_hat[2]);
  for (int k = 3; k < 6; ++k) out.u_hat[k] = 2 * kRadiusOfGyration * normal(*rng);
  return out;
}

}  // namespace stiction::formulations
