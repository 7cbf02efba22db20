#include "stiction/numerics/newton.hpp"

#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace stiction::numerics {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A function of R^n by its gradient and Hessian.
class DenseProblem {
 public:
  std::function<VectorXd(const VectorXd&)> gradient;
  std::function<MatrixXd(const VectorXd&)> hessian;
  VectorXd v;
  std::vector<double> residuals;

  Residual calc_gradient() {
    g_ = gradient(v);
    residuals.push_back(g_.norm());
    return {g_.norm(), 1};
  }
  bool calc_direction() {
    const Eigen::LLT<MatrixXd> llt(hessian(v));
    if (llt.info() != Eigen::Success) return false;
    direction_ = -llt.solve(g_);
    return true;
  }
  double start_line_search() { return g_.dot(direction_); }
  Slope calc_slope(double alpha) {
    const VectorXd at = v + alpha * direction_;
    return {gradient(at).dot(direction_), direction_.dot(hessian(at) * direction_)};
  }
  double move(double alpha) {
    v += alpha * direction_;
    return alpha * direction_.norm();
  }

 private:
  VectorXd g_, direction_;
};
static_assert(NewtonProblem<DenseProblem>);

MatrixXd make_spd(int n) {
  const MatrixXd B =
      MatrixXd::NullaryExpr(n, n, [](int i, int j) { return std::sin(1 + 3 * i + j * j); });
  return B * B.transpose() + MatrixXd::Identity(n, n);
}

DenseProblem make_quadratic(const VectorXd& minimum) {
  DenseProblem problem;
  const MatrixXd A = make_spd(static_cast<int>(minimum.size()));
  problem.gradient = [=](const VectorXd& v) { return VectorXd(A * (v - minimum)); };
  problem.hessian = [=](const VectorXd&) { return A; };
  problem.v = VectorXd::Zero(minimum.size());
  return problem;
}

/// sum sqrt(1 + v_i^2) + 1/2 |v|^2 - c.v: smooth, strongly convex, far from quadratic.
DenseProblem make_smooth() {
  DenseProblem problem;
  problem.gradient = [](const VectorXd& v) {
    const VectorXd c = VectorXd::LinSpaced(v.size(), 3, 9);
    return VectorXd(v.array() / (1 + v.array().square()).sqrt() + 0.01 * v.array() -
                    0.1 * c.array());
  };
  problem.hessian = [](const VectorXd& v) {
    const VectorXd d = (1 + v.array().square()).pow(-1.5) + 0.01;
    return MatrixXd(d.asDiagonal());
  };
  problem.v = VectorXd::Constant(5, -2);
  return problem;
}

NewtonOptions with_tolerance(double relative, int max_iterations = 100) {
  NewtonOptions options;
  options.relative_tolerance = relative;
  options.absolute_tolerance = 0;
  options.max_iterations = max_iterations;
  return options;
}

TEST(Newton, QuadraticTakesOneStep) {
  const VectorXd minimum = VectorXd::LinSpaced(6, -1, 4);
  DenseProblem problem = make_quadratic(minimum);
  const NewtonResult result = minimize(problem, with_tolerance(1e-12));
  EXPECT_EQ(result.status, NewtonStatus::kConverged);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.line_search_evaluations, 1);
  EXPECT_LT((problem.v - minimum).norm(), 1e-12);  // round-off of a 6 x 6 solve
}

TEST(Newton, ExactGuessTakesZeroIterations) {
  const VectorXd minimum = VectorXd::LinSpaced(4, 1, 2);
  DenseProblem problem = make_quadratic(minimum);
  problem.v = minimum;
  const NewtonResult result = minimize(problem, with_tolerance(0));
  EXPECT_EQ(result.status, NewtonStatus::kConverged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(result.residual.norm, 0);
}

TEST(Newton, ConvergesQuadraticallyNearTheMinimum) {
  DenseProblem problem = make_smooth();
  NewtonOptions options = with_tolerance(1e-13);
  options.line_search.slope_tolerance = 1e-12;
  const NewtonResult result = minimize(problem, options);
  ASSERT_EQ(result.status, NewtonStatus::kConverged);
  EXPECT_GE(result.iterations, 3);  // else it shows nothing
  // r' <= C r^2. The constant here: |d3l| / (2 |d2l|^2), at most 50.
  for (std::size_t k = 1; k < problem.residuals.size(); ++k) {
    const double last = problem.residuals[k - 1];
    if (last >= 1e-2) continue;
    EXPECT_LE(problem.residuals[k], 50 * last * last + 1e-15) << k;
  }
}

TEST(Newton, ResidualIsThatOfTheReturnedPoint) {
  for (const int limit : {1, 2, 100}) {
    DenseProblem problem = make_smooth();
    const NewtonResult result = minimize(problem, with_tolerance(1e-10, limit));
    EXPECT_EQ(result.residual.norm, problem.gradient(problem.v).norm());
  }
}

TEST(Newton, StopsAtTheIterationLimit) {
  DenseProblem problem = make_smooth();
  const NewtonResult result = minimize(problem, with_tolerance(1e-10, 2));
  EXPECT_EQ(result.status, NewtonStatus::kMaxIterations);
  EXPECT_EQ(result.iterations, 2);
  EXPECT_GT(result.residual.norm, 1e-10);
}

TEST(Newton, SaysThatAHessianIsIndefinite) {
  DenseProblem problem = make_quadratic(VectorXd::Ones(3));
  problem.hessian = [](const VectorXd&) {
    return MatrixXd(Eigen::Vector3d(1, -1, 1).asDiagonal());
  };
  EXPECT_EQ(minimize(problem, {}).status, NewtonStatus::kNotPositiveDefinite);
  EXPECT_EQ(problem.v, VectorXd::Zero(3)) << "moved";
}

TEST(Newton, SaysThatAGradientIsNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    DenseProblem problem = make_quadratic(VectorXd::Ones(3));
    problem.v[1] = bad;
    const NewtonResult result = minimize(problem, {});
    EXPECT_EQ(result.status, NewtonStatus::kNotFinite);
    EXPECT_EQ(result.iterations, 0);
  }
}

TEST(Newton, ToleranceOfZeroEndsInStagnation) {
  // No point has a gradient of zero: round-off sets in first, and is said.
  DenseProblem problem = make_smooth();
  const NewtonResult result = minimize(problem, with_tolerance(0));
  EXPECT_TRUE(result.status == NewtonStatus::kStagnated || result.residual.norm == 0);
  EXPECT_LT(result.residual.norm, 1e-15);
  EXPECT_LT(result.iterations, 20);
}

TEST(Newton, StagnatesWhereTheDirectionDoesNotDescend) {
  DenseProblem problem = make_quadratic(VectorXd::Ones(3));
  problem.gradient = [](const VectorXd&) { return VectorXd(VectorXd::Constant(3, 1e-100)); };
  problem.hessian = [](const VectorXd&) { return MatrixXd(1e250 * MatrixXd::Identity(3, 3)); };
  // The slope, 1e-450, is zero in double.
  const NewtonResult result = minimize(problem, with_tolerance(0));
  EXPECT_EQ(result.status, NewtonStatus::kStagnated);
}

}  // namespace
}  // namespace stiction::numerics
