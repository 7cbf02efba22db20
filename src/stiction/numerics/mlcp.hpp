#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// A mixed LCP with free unknowns u and complementary unknowns z,
///
///   A u + C z + a = 0,   0 <= z  _|_  D u + B z + b >= 0.
///
/// All matrices are column-major. See [theory:lcp].
struct Mlcp {
  int num_free = 0, size = 0;
  const double* A = nullptr;  // num_free x num_free, nonsingular
  const double* C = nullptr;  // num_free x size
  const double* D = nullptr;  // size x num_free
  const double* B = nullptr;  // size x size
  const double* a = nullptr;  // num_free
  const double* b = nullptr;  // size
};

/// The error of a point (u, z) in the problem as given.
struct MlcpResidual {
  double value = 0;      // max of |A u + C z + a|_inf and |min(z, w)|_inf
  double magnitude = 0;  // largest sum of the magnitudes of the terms of a row
  static constexpr double kAccepted = 1e-8;
  /// True if the error is small and finite. Terms that overflow make both numbers infinite.
  bool is_accepted() const { return value <= kAccepted * magnitude && std::isfinite(value); }
};
/// Computes w = D u + B z + b and the error of u and z.
/// @param w out: size `size`
MlcpResidual calc_residual(const Mlcp& problem, std::span<const double> z,
                           std::span<const double> u, std::span<double> w) noexcept;

/// Condenses a mixed problem to an LCP in z: u = -A^-1 (C z + a) gives Q = B - D A^-1 C and
/// r = b - D A^-1 a. Memory is reused from call to call.
class CondensedMlcp {
 public:
  /// Computes Q and r.
  /// @return kSolved; kNotSolved with a column of A in `row` if A is singular; kNotFinite with a
  /// row
  ///   of [A C a; D B b] in `row` if a number is not finite
  LcpReport condense(const Mlcp& problem);
  /// The LCP in z of the last successful `condense`. It is valid until the next call.
  DenseLcp lcp() const { return {size_, Q_.data(), r_.data()}; }
  /// Computes u, size num_free, for a given z, size `size`.
  void calc_u(std::span<const double> z, std::span<double> u) const noexcept;

 private:
  int num_free_ = 0, size_ = 0;
  std::vector<double> A_;
  std::vector<double> X_;  // A^-1 [C a], num_free x (size + 1), row-major
  std::vector<double> Q_, r_;
};

}  // namespace stiction::numerics
