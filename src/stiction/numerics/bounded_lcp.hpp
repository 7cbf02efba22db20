#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// A factored problem whose rows have bounds on both sides, as a dense LCP for solvers that know
/// only z >= 0. A bounded row is shifted to y = z + B >= 0, and its upper bound becomes a row of
/// its own, with the multiplier s:
///
///   w_i + s_i >= 0  _|_  y_i >= 0,     2 B_i - y_i >= 0  _|_  s_i >= 0.
///
/// The matrix [Q I; -I 0] is not symmetric, but it is positive semidefinite. Keeps its memory.
class BoundedLcp {
 public:
  /// Assembles the dense problem. The factored one must outlive the next calls.
  /// @return the problem in (y, s); valid until the next call
  DenseLcp assemble(const GramLcp& problem);
  /// The unknowns of the dense problem, which a solver fills; size of the dense problem.
  std::span<double> unknowns() { return y_; }
  /// Computes z, u and the residual of the factored problem from the unknowns.
  /// @param report of the dense solver, whose status and pivots are kept
  LcpReport read_out(const LcpReport& report, std::span<double> z, std::span<double> u);

 private:
  GramLcp problem_;
  std::vector<int> bounded_;  // rows with bounds on both sides
  std::vector<double> Q_, r_, y_, w_;
};

}  // namespace stiction::numerics
