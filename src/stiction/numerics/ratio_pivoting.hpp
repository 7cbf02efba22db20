#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/growing_cholesky.hpp"
#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

struct RatioPivotingOptions {
  /// A row depends on the active ones if its pivot is at most this share of its diagonal.
  double dependence = 1e-10;
  /// Added to the diagonal of Q, row by row; empty: nothing. Size num_rows, >= 0.
  std::span<const double> compliance = {};
};

/// Ratio-tested principal pivoting, `ppm_ratio`: solves LCPs whose Q is symmetric positive
/// semidefinite, of any rank. Rows enter the active set, where w = 0, one at a time: the row's z
/// grows until its w is zero or until the z of an active row is, which then leaves. Each row that
/// enters raises the dual objective strictly, so that no active set comes back. Active rows are
/// linearly independent: at most rank Q of them, whatever the number of rows.
///
/// Cost of an exchange: O(num_rows num_columns + active^2). Memory is kept from call to call.
/// Source: [drumwright2015] Algorithm 1, with the ratio test of [goldfarb1983];
/// [theory:ratio-pivoting].
class RatioPivoting {
 public:
  /// @param guess rows that may be active, in any order, such as active() of the problem before;
  ///              those that are none or depend on others are passed over
  /// @param z     out: size num_rows, >= 0; after a failure the last point reached
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z,
                  const RatioPivotingOptions& options = {});
  /// @param u out: size num_columns
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u, const RatioPivotingOptions& options = {});

  /// Rows whose w is zero and whose z is free: a guess for the next problem like this one.
  std::span<const int> active() const { return memory_.active; }

  /// What one solve leaves to the next.
  struct Memory {
    std::vector<int> active;
    std::vector<double> z;  // of active rows
    std::vector<const double*> directions;
    GrowingCholesky cholesky;  // of Q among active rows
    std::vector<double> x, w;  // x is u, or w of a dense problem
    std::vector<double> l, a;  // of the row that enters
    std::vector<int> guess;
    std::vector<double> ray;
  };

 private:
  Memory memory_;
};

}  // namespace stiction::numerics
