#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::numerics {

/// Ratio-tested pivoting, and what is done where it fails. `rung` of the report is
///
///   0  it did not fail,
///   1  solved as Q + lambda I in proximal steps, z_k+1 = LCP(Q + lambda I, r - lambda z_k), with
///      lambda = 1e-12, 1e-10, then 1e-8 of trace Q / size, until the problem itself is solved,
///      then taken to rows that are independent if they are given in factors: status kSolved;
///   2  rows found infeasible, `row` the first, were given compliance, w + s z >= 0 with s = 1e-3
///      Q_ii: the nearest point with slack on those rows; status kInfeasible;
///   3  there were more than 16 such rows, or no proof of any: b was left out, which is always
///      solvable, of problems in factors; status kInfeasible. Without proof, status kNotSolved, a
///      proximal step stands in its place where that misses the problem by less.
///
/// On rungs 2 and 3 z and u are of the problem so changed, and the residual tells by how much it
/// misses the one given.
class PivotingLadder {
 public:
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z);
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u);
  /// Rows with z > 0, and others that have w = 0: a guess for the next.
  std::span<const int> active() const { return active_; }

 private:
  void note_active(const LcpReport& report, std::span<const double> z);
  template <class Problem>
  LcpReport climb(const Problem& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u);
  template <class Problem>
  bool solve_proximal(const Problem& problem, double scale, double regularization,
                      std::span<double> z, std::span<double> u, double* least_residual,
                      LcpReport* report);
  template <class Problem>
  void take_to_independent_rows(const Problem& problem, std::span<double> z, std::span<double> u,
                                double accepted);
  void make_independent(const GramLcp& problem, std::span<double> z);
  void make_independent(const DenseLcp&, std::span<double>) {}  // Q alone tells too little
  template <class Problem>
  bool solve_with_slack(const Problem& problem, std::span<double> z, std::span<double> u,
                        LcpReport* report);

  RatioPivoting pivoting_;
  std::vector<double> compliance_, shifted_, w_, z_before_, nearest_;
  std::vector<int> guess_, active_;
  // Of make_independent: rows that push, and shares in them of one that depends on others.
  std::vector<int> pushing_;
  std::vector<double> rows_, share_, before_;
  RowBasis basis_;
};

}  // namespace stiction::numerics
