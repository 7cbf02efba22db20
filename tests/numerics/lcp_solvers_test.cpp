#include "stiction/numerics/lcp_solvers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"
#include "support/random_lcp.hpp"

namespace stiction::numerics::lcp_solvers_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<LcpSolver> available_solvers() {
  std::vector<LcpSolver> solvers = {LcpSolver::ppm_ratio, LcpSolver::ppm, LcpSolver::lemke};
  if (ActiveSetQp::is_available()) solvers.push_back(LcpSolver::active_set);
  return solvers;
}

TEST(LcpSolvers, AllGiveTheSameW) {
  std::mt19937_64 rng(1);
  for (const LcpSolver which : available_solvers()) {
    AnyLcpSolver solver(which);
    for (int k = 0; k < 100; ++k) {
      const int c = 2 + static_cast<int>(rng() % 40), rank = 1 + static_cast<int>(rng() % c);
      const RandomLcp p = make_random_lcp(c, rank, Range::inside, k % 2 == 0, &rng);
      const MatrixXd Q = p.Q();
      const VectorXd r = p.r();
      VectorXd z(c), z_dense(c), u(rank), w(c);
      const LcpReport gram = solver.solve(p.gram(), {}, span(z), span(u));
      ASSERT_TRUE(gram.is_solved()) << name(which) << ": " << name(gram.status);
      const LcpReport report = solver.solve(dense(Q, r), {}, span(z_dense));
      ASSERT_TRUE(report.is_solved())
          << name(which) << ": " << name(report.status) << ", problem " << k;
      EXPECT_LE((p.N * u + p.b - Q * z - r).norm(), 1e-9 * (1 + r.norm())) << name(which);
      EXPECT_LE(scaled_residual(Q, r, z), 1e-8) << name(which);
      EXPECT_LE((Q * (z - z_dense)).norm(), 1e-7 * (1 + r.norm())) << name(which);
      EXPECT_GE(static_cast<int>(solver.active().size()), (z_dense.array() > 0).count());
      const LcpReport none = solver.solve(DenseLcp{}, {}, {});
      EXPECT_TRUE(none.is_solved()) << name(which);
    }
  }
}

TEST(LcpSolvers, EachNameSelectsItsSolver) {
  for (const std::string_view known : lcp_solvers())
    EXPECT_EQ(name(parse_lcp_solver(known)), known);
  try {
    parse_lcp_solver("lemkee");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnknownName);
    EXPECT_NE(e.message().find("did you mean 'lemke'"), std::string::npos) << e.message();
  }
}

TEST(LcpSolvers, AnUnknownNameIsReportedUnderTheCallersOption) {
  try {
    parse_lcp_solver("simplex", "lcp_solver");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.where(), "lcp_solver");
  }
}

TEST(LcpSolvers, MissingActiveSetSaysHowToGetIt) {
  if (ActiveSetQp::is_available()) {
    EXPECT_NO_THROW(AnyLcpSolver{LcpSolver::active_set});
    return;
  }
  try {
    AnyLcpSolver solver(LcpSolver::active_set);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_NE(e.message().find("./dev setup"), std::string::npos);
  }
}

TEST(ActiveSetQp, SolvesNearlyAllProblemsInAndOutOfRange) {
  if (!ActiveSetQp::is_available()) GTEST_SKIP() << "built without DAQP";
  std::mt19937_64 rng(2);
  ActiveSetQp solver;
  int num_failures = 0, num_problems = 0;
  for (const int c : {4, 12, 40, 100})
    for (int tenths = 1; tenths <= 10; tenths += 3)
      for (const Range range : {Range::inside, Range::outside})
        for (int k = 0; k < 10; ++k, ++num_problems) {
          const int rank = std::max(1, c * tenths / 10);
          const RandomLcp p = make_random_lcp(c, rank, range, k % 2 == 0, &rng);
          VectorXd z(c), u(rank);
          const LcpReport report = solver.solve(p.gram(), span(z), span(u));
          num_failures += !report.is_solved();
          EXPECT_TRUE(!report.is_solved() || scaled_residual(p.Q(), p.r(), z) <= 1e-8);
        }
  // DAQP itself fails on some degenerate problems.
  EXPECT_LE(num_failures, num_problems / 50);
}

TEST(ActiveSetQp, DenseProblemsAreJudgedByTheResidualOfQItself) {
  if (!ActiveSetQp::is_available()) GTEST_SKIP() << "built without DAQP";
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> exponent(-5, 5);
  ActiveSetQp solver;
  int num_solved = 0;
  for (int problem = 0; problem < 20000; ++problem) {
    const int c = 2 + problem % 5, n = 1 + problem % c;
    MatrixXd A(c, n);
    for (int i = 0; i < c; ++i) {
      const double scale = std::pow(10, exponent(random));
      for (int k = 0; k < n; ++k) A(i, k) = scale * normal(random);
    }
    const MatrixXd Q = A * A.transpose();
    VectorXd r(c), z(c);
    for (int i = 0; i < c; ++i) r[i] = normal(random);
    if (!solver.solve(dense(Q, r), span(z)).is_solved()) continue;
    ++num_solved;
    const VectorXd w = Q * z + r;
    const double round_off =
        1e-15 * (Q.cwiseAbs() * z).maxCoeff();  // of w, computed here and in the solver
    EXPECT_LE(z.cwiseMin(w).cwiseAbs().maxCoeff(), 1e-8 * r.cwiseAbs().maxCoeff() + round_off);
  }
  EXPECT_GT(num_solved, 10000);
}

// A pile of bodies takes hundreds of pivots. A solver must not go on with them after a limit.
TEST(LcpSolvers, AllCheckTheLimitsWhileTheyPivot) {
  std::mt19937_64 rng(9);
  const RandomLcp p = make_random_lcp(400, 400, Range::inside, false, &rng);
  for (const LcpSolver which : available_solvers()) {
    VectorXd z(400), u(400);
    const auto solve_within = [&](std::int64_t most) {
      base::WorkLimits limits;
      limits.max_iterations = most;
      limits.begin_call();
      limits.begin_step();
      const base::LimitedTask task(&limits, true);
      return AnyLcpSolver(which).solve(p.gram(), {}, span(z), span(u)).pivots;
    };
    ASSERT_GT(solve_within(0), 110) << name(which);
    EXPECT_THROW(solve_within(60), base::WorkStopped) << name(which);
  }
}

TEST(ActiveSetQp, BadProblemsGetAStatus) {
  if (!ActiveSetQp::is_available()) GTEST_SKIP() << "built without DAQP";
  ActiveSetQp solver;
  const VectorXd r = -VectorXd::Ones(3);
  VectorXd z(3);
  MatrixXd Q = MatrixXd::Identity(3, 3);
  Q(1, 2) = 0.5;
  EXPECT_EQ(solver.solve(dense(Q, r), span(z)).status, LcpStatus::kNotSymmetric);
  EXPECT_EQ(solver.solve(dense(Q, r), span(z)).row, 1);
  Q(2, 1) = 0.5;
  Q(1, 1) = -1;
  EXPECT_EQ(solver.solve(dense(Q, r), span(z)).status, LcpStatus::kIndefinite);
  Q << 0, 1, 0, 1, 0, 0, 0, 0, 0;
  EXPECT_EQ(solver.solve(dense(Q, r), span(z)).status, LcpStatus::kIndefinite);
  Q(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solver.solve(dense(Q, r), span(z)).status, LcpStatus::kNotFinite);
  Q << 1, -1, 0, -1, 1, 0, 0, 0, 1;
  EXPECT_EQ(solver.solve(dense(Q, r), span(z)).status, LcpStatus::kInfeasible);
}

TEST(CheckLcp, NamesTheRowAtFault) {
  MatrixXd Q = MatrixXd::Identity(4, 4);
  const VectorXd r = VectorXd::Zero(4);
  EXPECT_TRUE(check(dense(Q, r), true).is_solved());
  Q(3, 1) = 1e-6;
  EXPECT_TRUE(check(dense(Q, r), false).is_solved());
  EXPECT_EQ(check(dense(Q, r), true).status, LcpStatus::kNotSymmetric);
  EXPECT_EQ(check(dense(Q, r), true).row, 1);
  Q(2, 0) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(check(dense(Q, r), false).status, LcpStatus::kNotFinite);
  EXPECT_EQ(check(dense(Q, r), false).row, 2);
}

/// Draws a number as it may occur in a degenerate or badly scaled problem.
double draw_extreme_number(std::mt19937_64* rng) {
  const auto kind = std::uniform_int_distribution<int>(0, 9)(*rng);
  const double sixteenths = std::uniform_int_distribution<int>(-128, 127)(*rng) / 16.0;
  const double exponent = std::uniform_real_distribution<double>(-300, 150)(*rng);
  switch (kind) {
    case 0: return std::pow(10.0, exponent);
    case 1:
    case 2: return 0;
    case 3: return 1;
    case 4: return -1;
    case 5: return 1e-300;
    case 6: return 1e-15 * sixteenths;
    default: return sixteenths;
  }
}

std::vector<double> draw_extreme_numbers(int count, std::mt19937_64* rng) {
  std::vector<double> numbers(count);
  for (double& x : numbers) x = draw_extreme_number(rng);
  return numbers;
}

/// Checks what a report with the status kSolved promises.
void expect_solution(std::span<const double> z, std::span<const int> active, double residual) {
  for (const double x : z) ASSERT_TRUE(x >= 0) << x;
  for (const int row : active) ASSERT_TRUE(0 <= row && row < static_cast<int>(z.size())) << row;
  ASSERT_TRUE(std::isfinite(residual)) << residual;
}

// Also where numbers differ by hundreds of orders of magnitude and z is round-off.
TEST(LcpSolvers, WhatIsReportedAsSolvedIsASolution) {
  std::mt19937_64 rng(3);
  int num_solved = 0;
  for (const std::string_view name : lcp_solvers()) {
    if (name == "active_set" && !ActiveSetQp::is_available()) continue;
    AnyLcpSolver solver(parse_lcp_solver(name));
    for (int trial = 0; trial < 30000; ++trial) {
      SCOPED_TRACE(testing::Message() << name << " " << trial);
      const int rows = std::uniform_int_distribution<int>(0, 9)(rng);
      const int columns = std::uniform_int_distribution<int>(1, 8)(rng);
      const std::vector<double> N = draw_extreme_numbers(rows * columns, &rng);
      const std::vector<double> b = draw_extreme_numbers(rows, &rng);
      const std::vector<double> u_hat = draw_extreme_numbers(columns, &rng);
      const std::vector<int> guess = {0, 3, 3, 1};
      std::vector<double> z(rows), u(columns), w(rows);
      const GramLcp lcp{rows, columns, N.data(), b.data(), u_hat.data()};
      const LcpReport report = solver.solve(lcp, guess, z, u);
      if (!report.is_solved()) continue;
      ++num_solved;
      ASSERT_NO_FATAL_FAILURE(expect_solution(z, solver.active(), report.residual));
      // The same as a dense problem, if its numbers are finite.
      std::vector<double> Q(rows * rows), r(rows);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < rows; ++j)
          for (int k = 0; k < columns; ++k)
            Q[i + j * rows] += N[i * columns + k] * N[j * columns + k];
      calc_w(lcp, std::vector<double>(rows), u, r);
      const DenseLcp dense{rows, Q.data(), r.data()};
      if (!check(dense, true).is_solved()) continue;
      const LcpReport dense_report = solver.solve(dense, guess, z);
      if (!dense_report.is_solved()) continue;
      ASSERT_NO_FATAL_FAILURE(expect_solution(z, solver.active(), dense_report.residual));
    }
  }
  EXPECT_GT(num_solved, 10000);
}

// No solver forms an address from the null pointers of an empty problem.
TEST(LcpSolvers, EmptyProblemsAreSolved) {
  const std::vector<int> guess = {0, 2};
  for (const std::string_view name : lcp_solvers()) {
    if (name == "active_set" && !ActiveSetQp::is_available()) continue;
    AnyLcpSolver solver(parse_lcp_solver(name));
    EXPECT_TRUE(solver.solve(DenseLcp{}, guess, {}).is_solved()) << name;
    EXPECT_TRUE(solver.solve(GramLcp{}, guess, {}, {}).is_solved()) << name;
    EXPECT_TRUE(solver.active().empty()) << name;
    // Rows without columns, and columns without rows.
    const std::vector<double> one = {1, 1, 1};
    std::vector<double> z(3), u(3);
    EXPECT_TRUE(solver.solve(GramLcp{.num_rows = 3, .b = one.data()}, guess, z, {}).is_solved());
    EXPECT_TRUE(
        solver.solve(GramLcp{.num_columns = 3, .u_hat = one.data()}, guess, {}, u).is_solved());
    EXPECT_EQ(u, one) << name;
  }
}

TEST(ProofOfInfeasibility, CombinesContradictoryRows) {
  const std::vector<double> N = {1, 0, -1, 0, 0, 1}, b = {0, -1, 5}, u_hat = {0, 0};
  const GramLcp squeezed{3, 2, N.data(), b.data(), u_hat.data()};
  EXPECT_TRUE(proves_infeasible(squeezed, std::vector<double>{1, 1, 0}));
  EXPECT_FALSE(proves_infeasible(squeezed, std::vector<double>{1, 0.5, 0}));  // N^T y != 0
  const std::vector<double> compatible = {1, -1, 5};
  const GramLcp loose{3, 2, N.data(), compatible.data(), u_hat.data()};
  EXPECT_FALSE(proves_infeasible(loose, std::vector<double>{1, 1, 0}));  // b^T y = 0
}

TEST(ProofOfInfeasibility, HoldsIfASolutionWouldHaveNoCorrectDigits) {
  // w >= 0 requires u_1 >= 0.5 / error. The second number has another scale.
  const std::vector<double> b = {0, -1}, u_hat = {0, 0}, y = {1, 1};
  const auto is_proved = [&](double error) {
    const std::vector<double> N = {1, 1e-8, -1 + error, -1e-8 + 1e-5 * error};
    return proves_infeasible(GramLcp{2, 2, N.data(), b.data(), u_hat.data()}, y);
  };
  EXPECT_TRUE(is_proved(1e-10));
  EXPECT_FALSE(is_proved(1e-7));
}

TEST(ProofOfInfeasibility, IsNotFoundIfThereIsASolution) {
  // The solution is z = (1, 1), but Q is indefinite.
  const std::vector<double> exchange = {0, 1, 1, 0}, r = {-1, -1};
  std::vector<double> z(2);
  RatioPivoting pivoting;
  EXPECT_EQ(pivoting.solve(DenseLcp{2, exchange.data(), r.data()}, {}, z).status,
            LcpStatus::kIndefinite);
  // The solution is z = (1, 1e14). Double precision cannot resolve it, but the problem is feasible.
  const std::vector<double> stretched = {1, 0, 0, 1e-14};
  EXPECT_NE(pivoting.solve(DenseLcp{2, stretched.data(), r.data()}, {}, z).status,
            LcpStatus::kInfeasible);
  Lemke lemke;
  EXPECT_NE(lemke.solve(DenseLcp{2, stretched.data(), r.data()}, z).status, LcpStatus::kInfeasible);
}

TEST(RatioPivoting, HugeNumbersAreNotReportedAsSolved) {
  const std::vector<double> N = {1, 0, -1, 0}, b = {0, 0}, u_hat = {1e300, 1e300};
  std::vector<double> z(2), u(2);
  RatioPivoting pivoting;
  EXPECT_FALSE(
      pivoting.solve(GramLcp{2, 2, N.data(), b.data(), u_hat.data()}, {}, z, u).is_solved());
}

}  // namespace
}  // namespace stiction::numerics::lcp_solvers_test
