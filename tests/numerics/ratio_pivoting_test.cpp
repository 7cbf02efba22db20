#include "stiction/numerics/ratio_pivoting.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/random_lcp.hpp"
#include "support/trials.hpp"

namespace stiction::numerics::ratio_pivoting_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(RatioPivoting, AgreesWithEnumeration) {
  std::mt19937_64 rng(1);
  RatioPivoting solver;
  int num_infeasible = 0;
  for (int k = 0; k < support::num_trials(1500); ++k) {
    const int c = 1 + static_cast<int>(rng() % 8), rank = 1 + static_cast<int>(rng() % c);
    const RandomLcp p = make_random_lcp(c, rank, Range(k % 3), k % 2 == 0, &rng);
    const MatrixXd Q = p.Q();
    const auto w = enumerate(Q, p.r());
    const Solved s = solve(p, &solver), t = solve(Q, p.r(), &solver);
    ASSERT_EQ(s.report.is_solved(), w.has_value()) << "problem " << k;
    ASSERT_EQ(t.report.is_solved(), w.has_value()) << "problem " << k;
    if (!w) {
      ++num_infeasible;
      EXPECT_EQ(s.report.status, LcpStatus::kInfeasible);
      EXPECT_GE(s.report.row, 0);
      continue;
    }
    EXPECT_LE((Q * s.z + p.r() - *w).lpNorm<Eigen::Infinity>(), 1e-9) << "problem " << k;
    EXPECT_LE((Q * t.z + p.r() - *w).lpNorm<Eigen::Infinity>(), 1e-9) << "problem " << k;
  }
  EXPECT_GE(num_infeasible, support::num_trials(50));
}

TEST(RatioPivoting, SolvesAllRanksInAndOutOfRange) {
  std::mt19937_64 rng(2);
  RatioPivoting solver;
  for (const int c : {12, 40, 100, 300})
    for (int tenths = 1; tenths <= 10; ++tenths)
      for (const Range range : {Range::inside, Range::outside})
        for (int k = 0; k < (c < 100 ? support::num_trials(20) : support::num_trials(2)); ++k) {
          const int rank = std::max(1, c * tenths / 10);
          const RandomLcp p = make_random_lcp(c, rank, range, k % 2 == 0, &rng);
          const Solved s = solve(p, &solver);
          ASSERT_TRUE(s.report.is_solved())
              << name(s.report.status) << ", size " << c << ", rank " << rank << ", " << k;
          const MatrixXd Q = p.Q();
          EXPECT_LE(scaled_residual(Q, p.r(), s.z), 1e-9);
          EXPECT_LE((s.u - p.u_hat - p.N.transpose() * s.z).norm(), 1e-9 * (1 + s.z.norm()));
          EXPECT_LE(static_cast<int>(solver.active().size()), rank);  // [theory:ratio-pivoting]
          EXPECT_LE((s.z.array() > 0).count(), static_cast<int>(solver.active().size()));
          const Solved t = solve(Q, p.r(), &solver);
          ASSERT_TRUE(t.report.is_solved()) << name(t.report.status);
          EXPECT_LE(scaled_residual(Q, p.r(), t.z), 1e-9);
        }
}

TEST(RatioPivoting, AnyGuessGivesTheSameW) {
  std::mt19937_64 rng(3);
  RatioPivoting solver;
  for (int k = 0; k < support::num_trials(300); ++k) {
    const int c = 5 + static_cast<int>(rng() % 60), rank = 1 + static_cast<int>(rng() % c);
    const RandomLcp p = make_random_lcp(c, rank, Range(k % 2), k % 3 == 0, &rng);
    const Solved cold = solve(p, &solver);
    std::vector<int> guess = {-3, c + 5};
    for (int i = 0; i < c; ++i) guess.push_back(static_cast<int>(rng() % c));
    const Solved warm = solve(p, &solver, guess);
    ASSERT_TRUE(warm.report.is_solved());
    EXPECT_LE((warm.u - cold.u).norm(), 1e-9 * (1 + cold.u.norm()));
  }
}

TEST(RatioPivoting, GuessingTheActiveSetTakesNoPivots) {
  std::mt19937_64 rng(4);
  RatioPivoting solver;
  for (int k = 0; k < 50; ++k) {
    const RandomLcp p = make_random_lcp(40, 12, Range(k % 2), false, &rng);
    solve(p, &solver);
    const std::vector<int> active(solver.active().begin(), solver.active().end());
    EXPECT_EQ(solve(p, &solver, active).report.pivots, 0);
  }
}

TEST(RatioPivoting, UnitsDoNotMatter) {
  std::mt19937_64 rng(5);
  RatioPivoting solver;
  for (const double unit : {1e-12, 1e12}) {
    RandomLcp p = make_random_lcp(30, 10, Range::outside, true, &rng);
    const Solved s = solve(p, &solver);
    p.u_hat *= unit;
    p.b *= unit;
    const Solved scaled = solve(p, &solver);
    EXPECT_EQ(scaled.report.pivots, s.report.pivots);
    EXPECT_LE((scaled.z - unit * s.z).norm(), 1e-9 * unit * s.z.norm());
  }
}

TEST(RatioPivoting, ComplianceIsAddedToTheDiagonal) {
  std::mt19937_64 rng(6);
  RatioPivoting solver;
  const RandomLcp p = make_random_lcp(25, 8, Range::any, true, &rng);
  VectorXd compliance = VectorXd::LinSpaced(25, 0.01, 2);
  const Solved s = solve(p, &solver, {}, RatioPivotingOptions{.compliance = span(compliance)});
  const MatrixXd Q = p.Q() + MatrixXd(compliance.asDiagonal());
  ASSERT_TRUE(s.report.is_solved());
  EXPECT_LE(scaled_residual(Q, p.r(), s.z), 1e-9);
}

TEST(RatioPivoting, TrivialProblemsAreSolved) {
  RatioPivoting solver;
  EXPECT_TRUE(solver.solve(DenseLcp{}, {}, {}).is_solved());
  const VectorXd u_hat = VectorXd::Ones(3);
  VectorXd u(3);
  EXPECT_TRUE(
      solver.solve(GramLcp{0, 3, nullptr, nullptr, u_hat.data()}, {}, {}, span(u)).is_solved());
  EXPECT_EQ(u, u_hat);
  // There are no columns, but rows with w < 0.
  VectorXd b(2), z(2);
  b << 1, -1;
  const LcpReport report = solver.solve(GramLcp{2, 0, nullptr, b.data(), nullptr}, {}, span(z), {});
  EXPECT_EQ(report.status, LcpStatus::kInfeasible);
  EXPECT_EQ(report.row, 1);
}

TEST(RatioPivoting, ContradictoryRowsAreInfeasible) {
  RandomLcp p = {RowMajorMatrix(3, 1), VectorXd(3), VectorXd::Zero(1)};
  p.N << 1, -1, 1;
  p.b << -1, -1, 5;  // u >= 1 and u <= -1
  RatioPivoting solver;
  const Solved s = solve(p, &solver);
  EXPECT_EQ(s.report.status, LcpStatus::kInfeasible);
  EXPECT_LE(s.report.row, 1);
  EXPECT_GE(s.report.residual, 1);
}

TEST(RatioPivoting, RatiosThatOverflowDoNotBlock) {
  for (const double coupling : {1e-310, -1e-310, 5e-324}) {
    MatrixXd Q = MatrixXd::Identity(2, 2);
    Q(0, 1) = Q(1, 0) = coupling;
    const VectorXd r = -VectorXd::Ones(2);
    VectorXd z(2);
    RatioPivoting solver;
    EXPECT_EQ(solver.solve(dense(Q, r), {}, span(z)).status, LcpStatus::kSolved);
    EXPECT_EQ(z, VectorXd::Ones(2));
  }
}

TEST(RatioPivoting, ReportsTheRowOfANumberThatIsNotFinite) {
  std::mt19937_64 rng(7);
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity()};
  RatioPivoting solver;
  for (const double x : bad) {
    RandomLcp p = make_random_lcp(10, 4, Range::inside, false, &rng);
    p.b[6] = x;
    EXPECT_EQ(solve(p, &solver).report.status, LcpStatus::kNotFinite);
    EXPECT_EQ(solve(p, &solver).report.row, 6);
    p.b[6] = 0;
    p.N(3, 2) = x;
    EXPECT_EQ(solve(p, &solver).report.status, LcpStatus::kNotFinite);
    EXPECT_EQ(solve(p, &solver).report.row, 3);
  }
}

TEST(RatioPivoting, NeverReportsAWrongAnswerForAnIndefiniteMatrix) {
  std::mt19937_64 rng(8);
  std::normal_distribution<double> normal;
  RatioPivoting solver;
  int num_indefinite = 0;
  for (int k = 0; k < support::num_trials(500); ++k) {
    const int c = 2 + static_cast<int>(rng() % 10);
    MatrixXd Q = MatrixXd::NullaryExpr(c, c, [&] { return normal(rng); });
    if (k % 2 == 0) Q = (Q + Q.transpose()).eval();
    const VectorXd r = VectorXd::NullaryExpr(c, [&] { return normal(rng); });
    const Solved s = solve(Q, r, &solver);
    num_indefinite += s.report.status == LcpStatus::kIndefinite;
    EXPECT_TRUE(!s.report.is_solved() || scaled_residual(Q, r, s.z) <= 1e-9);
  }
  EXPECT_GE(num_indefinite, support::num_trials(200));
}

}  // namespace
}  // namespace stiction::numerics::ratio_pivoting_test
