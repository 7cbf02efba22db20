#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::numerics {

/// Ratio-tested pivoting with a sequence of fallbacks, [theory:proximal-steps]. `fallback_level` of
/// the report tells which level gave the result:
///
///   0  No fallback was needed, or none applies.
///   1  Proximal steps z_k+1 = LCP(Q + lambda I, r - lambda z_k) solved the problem itself, with
///      lambda = 1e-12, 1e-10, then 1e-8 times trace(Q) / size. A factored problem is then reduced
///      to linearly independent rows. The status is kSolved. A problem that is proved infeasible
///      goes to level 3.
///   2  Lemke's method solved the problem itself, as the dense problem of Q = N N^T. It is tried
///      with up to kMaxLemkeSize unknowns, unless the best proximal step of a factored problem has
///      at most its largest_residual. A row with bounds on both sides counts as two unknowns. The
///      status is kSolved, and the residual may be as large as that of `lemke`. If the method
///      fails, its pivots are not counted.
///   3  The infeasible rows got compliance: w_i + s z_i >= 0 with s = 1e-3 Q_ii. z and u are the
///      nearest point with slack on those rows, and `row` is the first of them. The status is
///      kInfeasible.
///   4  More than 16 rows were infeasible, or no row was proved infeasible. A factored problem is
///      solved without b, which is always possible. The status is kInfeasible if there was a proof.
///      Otherwise it is kNotSolved, and the best point of levels 1 and 2 is returned if its
///      residual is smaller. For a dense problem that point is the only result on this level.
///
/// On levels 3 and 4 z and u solve a modified problem. The residual is that of the problem as
/// given.
class PivotingWithFallbacks {
 public:
  /// The most unknowns that Lemke's method is tried with, which takes seconds if it fails.
  static constexpr int kMaxLemkeSize = 300;

  /// Solves a dense or a factored problem. The parameters are those of RatioPivoting::solve.
  /// @throws std::bad_alloc
  LcpReport solve(const DenseLcp& problem, std::span<const int> guess, std::span<double> z);
  LcpReport solve(const GramLcp& problem, std::span<const int> guess, std::span<double> z,
                  std::span<double> u);
  /// The active rows, a guess for a similar problem: z > 0, and on level 0 others with w = 0.
  std::span<const int> active() const { return active_; }

 private:
  void store_active(const LcpReport& report, std::span<const double> z);
  template <class Problem>
  LcpReport solve_with_fallbacks(const Problem& problem, std::span<const int> guess,
                                 std::span<double> z, std::span<double> u);
  template <class Problem>
  bool solve_proximal(const Problem& problem, double scale, double regularization,
                      std::span<double> z, std::span<double> u, LcpReport* report);
  template <class Problem>
  bool solve_by_lemke(const Problem& problem, double scale, std::span<double> z,
                      std::span<double> u, LcpReport* report);
  LcpReport pivot_by_lemke(const DenseLcp& problem, std::span<double> z, std::span<double> u);
  LcpReport pivot_by_lemke(const GramLcp& problem, std::span<double> z, std::span<double> u);
  void keep_if_best(double residual, std::span<const double> z);
  template <class Problem>
  void try_make_independent(const Problem& problem, std::span<double> z, std::span<double> u,
                            double accepted);
  void make_independent(const GramLcp& problem, std::span<double> z);
  /// Does nothing, because the factors of a dense problem are not known.
  void make_independent(const DenseLcp&, std::span<double>) {}
  template <class Problem>
  bool solve_with_slack(const Problem& problem, std::span<double> z, std::span<double> u,
                        LcpReport* report);

  RatioPivoting pivoting_;
  Lemke lemke_;
  BoundedLcp bounded_;
  std::vector<double> compliance_;           // of each row, added to the diagonal of Q
  std::vector<double> shifted_;              // constants of a proximal step, r - lambda z
  std::vector<double> z_before_;             // z of level 0
  std::vector<double> z_of_least_residual_;  // of levels 1 and 2
  double least_residual_ = 0;                // the residual of that point
  std::vector<double> w_, zeros_, unused_u_;
  std::vector<int> guess_, active_;
  std::vector<double> before_;  // z before make_independent
  // Scratch of make_independent: rows with z > 0; a dependent row's coefficients in selected ones.
  std::vector<int> positive_;
  std::vector<double> rows_, coefficient_;
  RowBasis basis_;
};

}  // namespace stiction::numerics
