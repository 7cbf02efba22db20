#include "stiction/formulations/tamsi/dense_lu.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>
#include <Eigen/LU>

#include "stiction/base/work_limits.hpp"

namespace stiction::formulations::dense_lu_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd make_random(int n, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(n, n, [&] { return normal(*rng); });
}

TEST(DenseLu, SolvesAsEigenDoes) {
  std::mt19937_64 rng(1);
  for (const int n : {1, 2, 7, 16, 17, 40, 63, 64, 65, 130, 300, 520}) {
    const MatrixXd A = make_random(n, &rng);
    const VectorXd b = make_random(n, &rng).col(0);
    MatrixXd factors = A;
    DenseLu lu;
    lu.factor(&factors);
    VectorXd x = b;
    lu.solve(&x);
    const VectorXd expected = A.partialPivLu().solve(b);
    // Both have the error of partial pivoting, n units of rounding times the condition.
    EXPECT_LE((A * x - b).norm(), 1e-14 * n * A.norm() * x.norm()) << n;
    EXPECT_LE((A * (x - expected)).norm(), 1e-14 * n * A.norm() * x.norm()) << n;
  }
}

TEST(DenseLu, TheSolutionOfASingularMatrixIsNotFinite) {
  for (const int n : {1, 5, 40}) {
    MatrixXd A = MatrixXd::Identity(n, n);
    A.col(n / 2).setZero();
    DenseLu lu;
    lu.factor(&A);
    VectorXd x = VectorXd::Ones(n);
    lu.solve(&x);
    EXPECT_FALSE(x.allFinite()) << n;
  }
}

TEST(DenseLu, StopsWhenTheStepIsOutOfTime) {
  base::WorkLimits limits;
  limits.max_seconds = 1e-9;
  limits.begin_call();
  limits.begin_step();
  const base::LimitedTask task(&limits, true);
  std::mt19937_64 rng(2);
  MatrixXd A = make_random(100, &rng);
  EXPECT_THROW(DenseLu().factor(&A), base::WorkStopped);
}

}  // namespace
}  // namespace stiction::formulations::dense_lu_test
