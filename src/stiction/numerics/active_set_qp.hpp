#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"

namespace stiction::numerics {

/// The solver `active_set`. It solves a symmetric positive semidefinite LCP as a strictly convex
/// quadratic program with DAQP's dual active-set method:
///
///   min 1/2 |u - u_hat|^2   s.t.   N u + b >= 0.
///
/// z are the multipliers of the program. A dense Q is first factored as Q = N N^T by a pivoted
/// Cholesky factorization. DAQP is an optional dependency of the library. Memory is reused from
/// call to call. Source: [arnstrom2022]; [theory:active-set].
class ActiveSetQp {
 public:
  /// @throws Error kUnsupported, with the remedy, if the library was built without DAQP
  ActiveSetQp();
  ~ActiveSetQp();
  ActiveSetQp(ActiveSetQp&&) noexcept;
  ActiveSetQp& operator=(ActiveSetQp&&) noexcept;

  /// Returns true if the library was built with DAQP.
  static bool is_available();

  /// Solves a dense problem. `pivots` of the report is the number of DAQP's iterations.
  /// @param z out: size of the problem, >= 0
  /// @throws std::bad_alloc if memory runs out, and always if the factor has more than 46338
  ///   columns
  LcpReport solve(const DenseLcp& problem, std::span<double> z);
  /// Solves a factored problem.
  /// @param z out: size num_rows, >= 0
  /// @param u out: size num_columns
  /// @throws std::bad_alloc if memory runs out, and always if num_columns > 46338
  LcpReport solve(const GramLcp& problem, std::span<double> z, std::span<double> u);
  /// Returns the rows with z > 0.
  std::span<const int> active() const { return active_; }

 private:
  struct Workspace;

  std::unique_ptr<Workspace> workspace_;  // DAQP's memory
  std::vector<int> active_;
  std::vector<double> w_, zero_, factor_, remainder_, u_;
  RatioPivoting second_opinion_;  // confirms that a problem is infeasible
};

}  // namespace stiction::numerics
