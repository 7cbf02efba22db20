#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// The indices that a pass of principal pivoting exchanges.
enum class PivotRule {
  least_values,  ///< the rows of the least w and of the least z: [drumwright2015] Algorithm 1
  least_index,   ///< the first row whose w or z is negative: [murty1974]
};

/// Principal pivoting as published: `ppm`, the baseline for `ppm_ratio`, and the method that it
/// modifies, the unmodified principal pivoting method I, `ppm_i`. Rows enter the active set if
/// their w is negative, and leave it if their z is. Then the system of the active rows is solved
/// again. `ppm` exchanges up to two rows per pass. It has no descent guarantee: if Q is
/// rank-deficient and r is not in its range, it may cycle or meet a singular system. `ppm_i`
/// exchanges one row per pass and ends for every P-matrix, after exponentially many passes in the
/// worst case; a singular Q is not one. Failures are kMaxPivots and kNotSolved.
///
/// Two details of `ppm` differ from the published code. At near-ties that code takes a random row;
/// this one takes the lowest. The published code sorts the rows after inserting one and then
/// removes a row by its old position; this one removes the intended row. Source: [theory:ppm].
class PrincipalPivoting {
 public:
  explicit PrincipalPivoting(PivotRule rule = PivotRule::least_values) : rule_(rule) {}

  /// Solves a dense or a factored problem. Memory is reused from call to call.
  /// @param guess not used by this method
  /// @param z     out: size of the problem; z of the last pass, with negative entries set to zero
  /// @throws std::bad_alloc
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z);
  /// @param u out: size num_columns
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u);
  /// Returns the active rows of the last pass. w is 0 there, and z may have either sign.
  std::span<const int> active() const { return memory_.active; }

  /// The memory that solves reuse.
  struct Memory {
    std::vector<int> active;
    std::vector<char> is_active;
    std::vector<double> z, x, w;  // z: of active rows only; x: see lcp_operators.hpp
    std::vector<double> matrix;   // Q of the active rows, then its factors; row-major
  };

 private:
  PivotRule rule_;
  Memory memory_;
};

}  // namespace stiction::numerics
