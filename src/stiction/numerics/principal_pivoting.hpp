#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// Principal pivoting as published, `ppm`, the baseline that `ppm_ratio` is measured against: each
/// pass takes the row of the least w into the active set and the one of the least z out of it, and
/// solves anew. It has no descent guarantee: with a Q of deficient rank and r out of its range it
/// may cycle or meet a singular system, and then ends as kMaxPivots or kNotSolved.
///
/// At near-ties the published code takes a random row; here the lowest. It also sorts the rows
/// after inserting one and then removes by the old position; here the row meant is removed. Source:
/// [drumwright2015] Algorithm 1; [theory:ppm].
class PrincipalPivoting {
 public:
  /// @param guess not used by the method
  /// @param z out: size num_rows; of the last pass, with negative entries set to zero
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z);
  /// @param u out: size num_columns
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u);
  std::span<const int> active() const { return memory_.active; }

  /// What one solve leaves to the next.
  struct Memory {
    std::vector<int> active;
    std::vector<char> is_active;
    std::vector<double> z, x, w;
    std::vector<double> matrix;  // Q among active rows, then its factors; row-major
  };

 private:
  Memory memory_;
};

}  // namespace stiction::numerics
