#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/pivot_rows.hpp"

namespace stiction::numerics {

struct RatioPivotingOptions {
  /// The largest fraction of its diagonal entry that the pivot of a dependent row may be.
  double dependence = 1e-10;
  /// Values >= 0 that are added to the diagonal of Q; size of the problem, or empty for none.
  std::span<const double> compliance = {};
};

/// Ratio-tested principal pivoting, the core of `ppm_ratio`. It solves LCPs with a symmetric
/// positive semidefinite Q of any rank. Rows enter the active set, where w = 0, one at a time. The
/// z of the entering row grows until its w is zero, or until the z of an active row is zero; that
/// row then leaves. Each row that enters strictly increases the dual objective, so no active set
/// occurs twice. Active rows are linearly independent, so there are at most rank(Q) of them.
///
/// Rows with bounds on both sides are active while z is between the bounds, and are clamped
/// otherwise. A clamped row whose w has the wrong sign enters like any other, from its bound, and
/// an active one that reaches a bound leaves. Their compliance makes them independent, and their
/// bounds keep every step finite.
///
/// The cost of an exchange is O(num_rows num_columns + num_active^2). Memory is reused from call to
/// call. Source: [drumwright2015] Algorithm 1, with the ratio test of [goldfarb1983];
/// [theory:ratio-pivoting].
class RatioPivoting {
 public:
  /// Solves a dense or a factored problem. Only factored problems may have bounds on both sides.
  /// @param guess rows that may be active, in any order, such as active() of the problem before.
  ///              Rows that do not exist or that depend on others are ignored.
  /// @param z     out: size of the problem, within its bounds; the last point reached if the solve
  ///              fails
  /// @throws std::bad_alloc
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z,
                  const RatioPivotingOptions& options = {});
  /// @param u out: size num_columns
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u, const RatioPivotingOptions& options = {});

  /// Returns the active rows, where w = 0 within the bounds of z: a guess for a similar problem.
  std::span<const int> active() const { return memory_.active.rows; }

  /// The memory that solves reuse.
  struct Memory {
    ActiveRows active;
    ClampedRows clamped;
    std::vector<double> base;  // x_hat with the clamped rows
    std::vector<double> x, w;  // x is u; a dense problem has w only
    std::vector<double> mask;  // 0 for active rows, which cannot enter; 1 for others
    std::vector<int> guess;
    std::vector<double> ray;
  };

 private:
  Memory memory_;
};

}  // namespace stiction::numerics
