#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// Principal pivoting as published, `ppm`: the baseline for `ppm_ratio`. Each pass adds the row of
/// the least w to the active set, removes the row of the least z from it, and solves again. The
/// method has no descent guarantee. If Q is rank-deficient and r is not in its range, it may cycle
/// or meet a singular system. It then ends with kMaxPivots or kNotSolved.
///
/// Two details differ from the published code. At near-ties that code takes a random row; this one
/// takes the lowest. The published code sorts the rows after inserting one and then removes a row
/// by its old position; this one removes the intended row. Source: [drumwright2015] Algorithm 1;
/// [theory:ppm].
class PrincipalPivoting {
 public:
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
  Memory memory_;
};

}  // namespace stiction::numerics
