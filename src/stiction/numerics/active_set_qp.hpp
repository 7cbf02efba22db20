#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"

namespace stiction::numerics {

/// `active_set`: semidefinite LCPs as strictly convex quadratic programs,
///
///   min 1/2 |u - u_hat|^2   s.t.   N u + b >= 0,
///
/// whose multipliers are z, by DAQP's dual active-set method. A dense Q is first factored as N N^T
/// by Cholesky with pivoting. DAQP is optional when the library is built.
/// Source: [arnstrom2022].
class ActiveSetQp {
 public:
  /// @throws Error kUnsupported, with how to get it, if the library was built without DAQP
  ActiveSetQp();
  ~ActiveSetQp();
  ActiveSetQp(ActiveSetQp&&) noexcept;
  ActiveSetQp& operator=(ActiveSetQp&&) noexcept;

  static bool is_available();

  /// @param z out: size of the problem; pivots are DAQP's iterations
  /// @throws std::bad_alloc; by more than 46338 columns of N in any case
  LcpReport solve(const DenseLcp& problem, std::span<double> z);
  /// @param u out: size num_columns
  LcpReport solve(const GramLcp& problem, std::span<double> z, std::span<double> u);
  /// Rows with z > 0.
  std::span<const int> active() const { return active_; }

 private:
  struct Workspace;

  std::unique_ptr<Workspace> workspace_;  // of DAQP
  std::vector<int> active_;
  std::vector<double> w_, zero_, factor_, left_, u_;
  RatioPivoting second_;  // opinion of what is infeasible
};

}  // namespace stiction::numerics
