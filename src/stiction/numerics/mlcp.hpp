#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// Mixed LCP with free u and complementary z,
///
///   A u + C z + a = 0,   0 <= z  _|_  D u + B z + b >= 0.
///
/// All matrices are column-major.
struct Mlcp {
  int num_free = 0, size = 0;
  const double* A = nullptr;  // num_free x num_free, regular
  const double* C = nullptr;  // num_free x size
  const double* D = nullptr;  // size x num_free
  const double* B = nullptr;  // size x size
  const double* a = nullptr;  // num_free
  const double* b = nullptr;  // size
};

/// w = D u + B z + b, and how well u and z solve the problem as given.
struct MlcpResidual {
  double value = 0;      // the larger of |A u + C z + a|_inf and |min(z, w)|_inf
  double magnitude = 0;  // of the terms that cancel in its row
  static constexpr double kAccepted = 1e-8;
  bool is_accepted() const { return value <= kAccepted * magnitude; }
};
/// @param w out: size
MlcpResidual calc_residual(const Mlcp& problem, std::span<const double> z,
                           std::span<const double> u, std::span<double> w) noexcept;

/// Condensation of a mixed problem to an LCP in z: u = -A^-1 (C z + a), so that
/// Q = B - D A^-1 C, r = b - D A^-1 a. Memory is kept from call to call.
class CondensedMlcp {
 public:
  /// kNotSolved if A is singular, with the column of A at which it was seen; kNotFinite, with the
  /// row of [A C a; D B b].
  LcpReport condense(const Mlcp& problem);
  /// After a success; valid until the next one.
  DenseLcp lcp() const { return {size_, Q_.data(), r_.data()}; }
  /// u [num_free] of a z.
  void calc_u(std::span<const double> z, std::span<double> u) const noexcept;

 private:
  int num_free_ = 0, size_ = 0;
  std::vector<double> A_;
  std::vector<double> X_;  // A^-1 [C a], num_free x (size + 1), row-major
  std::vector<double> Q_, r_;
};

}  // namespace stiction::numerics
