#include "stiction/numerics/gmres.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace stiction::numerics::gmres_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

GmresResult solve(const MatrixXd& M, const VectorXd& b, double tolerance, VectorXd* x) {
  std::vector<double> scratch(gmres_scratch_size(b.size()));
  x->resize(b.size());
  const std::size_t n = b.size();
  const auto multiply = [&](std::span<const double> p, std::span<double> q) {
    const VectorXd product = M * Eigen::Map<const VectorXd>(p.data(), b.size());
    std::copy(product.begin(), product.end(), q.begin());
  };
  return solve_gmres(multiply, {b.data(), n}, tolerance, scratch, {x->data(), n});
}

TEST(Gmres, SolvesNonsymmetricSystemsInOneIterationPerUnknown) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  for (int n = 1; n <= 20; ++n) {
    const MatrixXd M =
        MatrixXd::NullaryExpr(n, n, [&] { return normal(rng); }) + 2 * MatrixXd::Identity(n, n);
    const VectorXd b = VectorXd::NullaryExpr(n, [&] { return normal(rng); });
    VectorXd x;
    const GmresResult result = solve(M, b, 1e-12, &x);
    EXPECT_LE(result.iterations, n);
    const VectorXd exact = M.partialPivLu().solve(b);
    const double condition = M.norm() * M.inverse().norm();
    EXPECT_LE((x - exact).norm(), 1e-11 * condition * exact.norm()) << "n " << n;
  }
}

TEST(Gmres, StopsAtTheToleranceAndReportsTheResidual) {
  std::mt19937_64 rng(2);
  std::normal_distribution<double> normal;
  const int n = 40;
  const MatrixXd M =
      MatrixXd::NullaryExpr(n, n, [&] { return 0.1 * normal(rng); }) + MatrixXd::Identity(n, n);
  const VectorXd b = VectorXd::NullaryExpr(n, [&] { return normal(rng); });
  int last = 0;
  for (const double tolerance : {0.3, 1e-2, 1e-4}) {
    VectorXd x;
    const GmresResult result = solve(M, b, tolerance, &x);
    EXPECT_LE(result.relative_residual, tolerance);
    EXPECT_NEAR((b - M * x).norm(), result.relative_residual * b.norm(), 1e-12 * b.norm());
    EXPECT_GT(result.iterations, last);
    last = result.iterations;
  }
  EXPECT_LT(last, kMaxGmresIterations);
}

TEST(Gmres, AMultipleOfTheIdentityTakesOneIteration) {
  const VectorXd b = VectorXd::LinSpaced(7, -1, 5);
  VectorXd x;
  EXPECT_EQ(solve(4 * MatrixXd::Identity(7, 7), b, 1e-12, &x).iterations, 1);
  EXPECT_LE((x - b / 4).norm(), 1e-15 * b.norm());
}

TEST(Gmres, ZeroRightHandSideTakesNoIterations) {
  VectorXd x;
  EXPECT_EQ(solve(MatrixXd::Identity(3, 3), VectorXd::Zero(3), 1e-3, &x).iterations, 0);
  EXPECT_EQ(x.norm(), 0);
}

TEST(Gmres, SingularSystemGivesAFiniteResult) {
  MatrixXd M = MatrixXd::Zero(2, 2);
  M(0, 1) = 1;  // The range of M does not contain b.
  VectorXd x;
  const GmresResult result = solve(M, VectorXd::Unit(2, 1), 1e-6, &x);
  EXPECT_TRUE(x.allFinite());
  EXPECT_GE(result.relative_residual, 0.9);
}

}  // namespace
}  // namespace stiction::numerics::gmres_test
