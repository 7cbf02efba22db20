#include "stiction/numerics/principal_pivoting.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/random_lcp.hpp"

namespace stiction::numerics::principal_pivoting_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(PrincipalPivoting, SolvesRightHandSidesInTheRange) {
  std::mt19937_64 rng(1);
  PrincipalPivoting solver;
  for (const int c : {5, 12, 40, 100})
    for (int tenths = 1; tenths <= 10; ++tenths)
      for (int k = 0; k < 5; ++k) {
        const int rank = std::max(1, c * tenths / 10);
        const RandomLcp p = make_random_lcp(c, rank, Range::inside, k % 2 == 0, &rng);
        const MatrixXd Q = p.Q();
        const Solved s = solve(p, &solver), t = solve(Q, p.r(), &solver);
        ASSERT_TRUE(s.report.is_solved()) << name(s.report.status) << ", " << c << ", " << rank;
        EXPECT_LE(scaled_residual(Q, p.r(), s.z), 1e-9);
        EXPECT_LE((s.u - p.u_hat - p.N.transpose() * s.z).norm(), 1e-9 * (1 + s.z.norm()));
        EXPECT_LE(static_cast<int>(solver.active().size()), rank);
        ASSERT_TRUE(t.report.is_solved()) << name(t.report.status) << ", " << c << ", " << rank;
        EXPECT_LE(scaled_residual(Q, p.r(), t.z), 1e-9);
      }
}

TEST(PrincipalPivoting, ReportsItsFailuresOnRightHandSidesOutOfTheRange) {
  std::mt19937_64 rng(2);
  PrincipalPivoting solver;
  int num_failures = 0;
  for (int k = 0; k < 200; ++k) {
    const RandomLcp p = make_random_lcp(40, 12, Range::outside, false, &rng);
    const Solved s = solve(p, &solver);
    num_failures += !s.report.is_solved();
    EXPECT_TRUE(!s.report.is_solved() || scaled_residual(p.Q(), p.r(), s.z) <= 1e-8);
  }
  EXPECT_GE(num_failures, 20);  // In another measurement the published rule failed on 163 of 736.
  EXPECT_LE(num_failures, 180);
}

TEST(PrincipalPivoting, TheLeastIndexSolvesPMatrices) {
  // Positive definite matrices, also with a skew part, are P-matrices. Their solution is unique.
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  const auto draw = [&] { return normal(rng); };
  PrincipalPivoting solver(PivotRule::least_index);
  for (const int c : {1, 2, 5, 12, 30})
    for (int k = 0; k < 50; ++k) {
      MatrixXd Q = make_random_lcp(c, c, Range::inside, k % 2 == 0, &rng).Q();
      Q.diagonal().array() += 0.1 * Q.trace() / c;
      const MatrixXd skew = MatrixXd::NullaryExpr(c, c, draw);
      if (k % 3 == 0) Q += 0.3 * Q.trace() / c * (skew - skew.transpose());
      const VectorXd r = VectorXd::NullaryExpr(c, draw);
      const Solved s = solve(Q, r, &solver);
      ASSERT_TRUE(s.report.is_solved()) << name(s.report.status) << ", " << c << ", " << k;
      EXPECT_LE(scaled_residual(Q, r, s.z), 1e-9);
    }
}

TEST(PrincipalPivoting, TheLeastIndexTakesTheFirstNegativeRowAndOnePerPass) {
  // As below, but both w are negative: row 0 enters, although w_1 is less. Then z = (1, 0), w_1 =
  // -5 and row 1 enters. Both w are zero at z = (6, 5).
  MatrixXd Q(2, 2);
  Q << 1, -1, -1, 2;
  VectorXd r(2);
  r << -1, -4;
  PrincipalPivoting first(PivotRule::least_index), least;
  const Solved s = solve(Q, r, &first);
  ASSERT_TRUE(s.report.is_solved());
  EXPECT_EQ(s.z, VectorXd((VectorXd(2) << 6, 5).finished()));
  EXPECT_EQ(std::vector<int>(first.active().begin(), first.active().end()), (std::vector{0, 1}));
  ASSERT_TRUE(solve(Q, r, &least).report.is_solved());
  EXPECT_EQ(std::vector<int>(least.active().begin(), least.active().end()), (std::vector{1, 0}));
}

TEST(PrincipalPivoting, TheLeastIndexMayTakeExponentiallyManyPasses) {
  // Murty's example: ones on the diagonal and twos above it, r = -1. The solution is z = (0, ...,
  // 1).
  PrincipalPivoting solver(PivotRule::least_index);
  for (int c = 1; c <= 9; ++c) {
    MatrixXd Q = MatrixXd::Identity(c, c);
    Q.triangularView<Eigen::StrictlyUpper>().setConstant(2);
    const Solved s = solve(Q, -VectorXd::Ones(c), &solver);
    ASSERT_TRUE(s.report.is_solved()) << c;
    EXPECT_EQ(s.report.pivots, (1 << c) - 1) << c;
  }
}

TEST(PrincipalPivoting, TakesTheRowOfTheLeastWFirst) {
  // Row 1 has the least w and enters, so z = (0, 2). Then w_0 = 1 - 2 < 0 and row 0 enters. Both w
  // are zero at z = (2, 3).
  MatrixXd Q(2, 2);
  Q << 1, -1, -1, 2;
  VectorXd r(2);
  r << 1, -4;
  PrincipalPivoting solver;
  const Solved s = solve(Q, r, &solver);
  ASSERT_TRUE(s.report.is_solved());
  EXPECT_EQ(s.report.pivots, 2);
  EXPECT_LE((s.z - VectorXd(Eigen::Vector2d(2, 3))).norm(), 1e-14);
}

TEST(PrincipalPivoting, TrivialProblemsAreSolved) {
  PrincipalPivoting solver;
  EXPECT_TRUE(solver.solve(DenseLcp{}, {}, {}).is_solved());
  EXPECT_EQ(solve(MatrixXd::Identity(2, 2), VectorXd::Ones(2), &solver).report.pivots, 0);
}

TEST(PrincipalPivoting, MoreActiveRowsThanColumnsAreAFailure) {
  // There are no columns, so the first row that enters is one too many. Its equations are not
  // solved and its z stays zero.
  const RandomLcp none = {MatrixXd::Zero(2, 0), VectorXd::Constant(2, -1), VectorXd::Zero(0)};
  PrincipalPivoting solver;
  const Solved s = solve(none, &solver);
  EXPECT_EQ(s.report.status, LcpStatus::kNotSolved);
  EXPECT_EQ(s.z, VectorXd::Zero(2));
  EXPECT_EQ(s.report.residual, 1);
}

TEST(PrincipalPivoting, InvalidProblemsGetAStatus) {
  PrincipalPivoting solver;
  VectorXd r = -VectorXd::Ones(3);
  r[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solve(MatrixXd::Identity(3, 3), r, &solver).report.status, LcpStatus::kNotFinite);
  EXPECT_EQ(solve(MatrixXd::Identity(3, 3), r, &solver).report.row, 1);
  EXPECT_EQ(solve(MatrixXd::Zero(2, 2), -VectorXd::Ones(2), &solver).report.status,
            LcpStatus::kNotSolved);
  EXPECT_FALSE(solve(-MatrixXd::Identity(2, 2), -VectorXd::Ones(2), &solver).report.is_solved());
}

}  // namespace
}  // namespace stiction::numerics::principal_pivoting_test
