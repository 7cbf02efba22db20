#include "stiction/numerics/newton.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace stiction::numerics::newton_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A function on R^n, given by its gradient and Hessian.
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

/// The function sum_i sqrt(1 + v_i^2) + 0.005 |v|^2 - 0.1 c.v, which is smooth, strongly convex and
/// far from quadratic.
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
  EXPECT_GE(result.iterations, 3);  // Otherwise the test shows nothing.
  // Quadratic convergence: the next residual is at most C r^2 with C = |d3l| / (2 |d2l|^2) <= 50.
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

TEST(Newton, ReportsAnIndefiniteHessian) {
  DenseProblem problem = make_quadratic(VectorXd::Ones(3));
  problem.hessian = [](const VectorXd&) {
    return MatrixXd(Eigen::Vector3d(1, -1, 1).asDiagonal());
  };
  EXPECT_EQ(minimize(problem, {}).status, NewtonStatus::kNotPositiveDefinite);
  EXPECT_EQ(problem.v, VectorXd::Zero(3)) << "the point moved";
}

TEST(Newton, ReportsAGradientThatIsNotFinite) {
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
  // No representable point has a gradient of exactly zero, so round-off ends the method.
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
  // The slope, 1e-450, is zero in double precision.
  const NewtonResult result = minimize(problem, with_tolerance(0));
  EXPECT_EQ(result.status, NewtonStatus::kStagnated);
}

/// 1/2 |v - c|^2 - sum_i ln v_i on v > 0. The extended function continues the logarithm as a
/// parabola below a border.
class BarrierProblem : public DenseProblem {
 public:
  explicit BarrierProblem(const VectorXd& c) {
    gradient = [this, c](const VectorXd& at) {
      num_outside += at.minCoeff() <= 0 && border_ == 0;
      const VectorXd s = at.cwiseMax(border_);
      return VectorXd(at - c - s.cwiseInverse() + (at - s).cwiseQuotient(s.cwiseProduct(s)));
    };
    hessian = [this](const VectorXd& at) {
      const VectorXd s = at.cwiseMax(border_);
      return MatrixXd((1 + s.array().square().inverse()).matrix().asDiagonal());
    };
  }

  bool calc_direction() {
    direction = -hessian(v).llt().solve(gradient(v));
    return DenseProblem::calc_direction();
  }
  bool is_feasible(double alpha) { return (v + alpha * direction_or_zero()).minCoeff() > border_; }
  double calc_max_step(double max_step) {
    while (border_ == 0 && !is_feasible(max_step)) max_step *= 2.0 / 3;
    return max_step;
  }
  void extend_domain(double fraction) {
    border_ = fraction;
    ++num_extended;
  }

  int num_outside = 0, num_extended = 0;

 private:
  VectorXd direction_or_zero() const {
    return direction.size() ? direction : VectorXd(VectorXd::Zero(v.size()));
  }
  VectorXd direction;
  double border_ = 0;
};
static_assert(HasExtendedDomain<BarrierProblem>);

NewtonOptions tight_options() {
  NewtonOptions options;
  options.relative_tolerance = 1e-9;
  return options;
}

/// The solution of v - c = 1 / v.
VectorXd barrier_minimum(const VectorXd& c) {
  return (c.array() + (c.array().square() + 4).sqrt()) / 2;
}

TEST(Newton, StaysInTheDomainOfABarrier) {
  const VectorXd c = VectorXd::LinSpaced(5, -30, 3);
  BarrierProblem problem(c);
  problem.v = VectorXd::Constant(5, 40);  // A full step from here ends far outside.
  const NewtonResult result = minimize_from_anywhere(problem, tight_options());
  EXPECT_EQ(result.status, NewtonStatus::kConverged);
  EXPECT_EQ(problem.num_outside, 0) << "evaluated outside the domain";
  EXPECT_EQ(problem.num_extended, 0);
  EXPECT_LE((problem.v - barrier_minimum(c)).norm(), 1e-9);
}

TEST(Newton, FindsTheDomainOfABarrierFromOutside) {
  for (const double lowest : {-0.5, -30.0, -3000.0}) {  // The minimum is at about -1 / lowest.
    const VectorXd c = VectorXd::LinSpaced(5, lowest, 3);
    BarrierProblem problem(c);
    problem.v = VectorXd::LinSpaced(5, -7, 2);
    const NewtonResult result = minimize_from_anywhere(problem, tight_options());
    EXPECT_EQ(result.status, NewtonStatus::kConverged);
    EXPECT_GT(problem.v.minCoeff(), 0);
    EXPECT_LE((problem.v - barrier_minimum(c)).norm(), 1e-9);
    EXPECT_GT(problem.num_extended, 0);
  }
}

TEST(Newton, ReportsADomainOutOfReach) {
  BarrierProblem problem(VectorXd::Constant(2, -1e10));  // The minimum is too near to the border.
  problem.v = VectorXd::Constant(2, -1);
  EXPECT_EQ(minimize_from_anywhere(problem, {}).status, NewtonStatus::kInfeasible);
}

TEST(NewtonTrace, HoldsCostGradientAndStepOfEveryIterate) {
  DenseProblem problem = make_smooth();
  const auto calc_cost = [](const VectorXd& v) {
    const VectorXd c = VectorXd::LinSpaced(v.size(), 3, 9);
    return (1 + v.array().square()).sqrt().sum() + 0.005 * v.squaredNorm() - 0.1 * c.dot(v);
  };
  const double initial_cost = calc_cost(problem.v);
  NewtonTrace trace;
  NewtonOptions options;
  options.relative_tolerance = 1e-10;
  options.trace = &trace;
  const NewtonResult result = minimize(problem, options);
  ASSERT_EQ(result.status, NewtonStatus::kConverged);
  const std::vector<NewtonIterate>& iterates = trace.iterates();
  ASSERT_EQ(iterates.size(), result.iterations + 1u);
  ASSERT_EQ(iterates.size(), problem.residuals.size());
  for (std::size_t i = 0; i < iterates.size(); ++i) {
    EXPECT_EQ(iterates[i].run, 0);
    EXPECT_EQ(iterates[i].iteration, static_cast<int>(i));
    EXPECT_EQ(iterates[i].gradient_norm, problem.residuals[i]);
    EXPECT_EQ(iterates[i].step_length > 0, i + 1 < iterates.size());
    if (i > 0) {
      EXPECT_LE(iterates[i].cost, iterates[i - 1].cost);
    }
  }
  EXPECT_NEAR(iterates.back().cost, calc_cost(problem.v) - initial_cost, 1e-9);
}

TEST(NewtonTrace, CountsRuns) {
  DenseProblem problem = make_quadratic(VectorXd::Ones(3));
  NewtonTrace trace;
  NewtonOptions options;
  options.trace = &trace;
  for (int run = 0; run < 2; ++run) {
    problem.v.setZero();
    (void)minimize(problem, options);
  }
  const std::vector<NewtonIterate>& iterates = trace.iterates();
  ASSERT_EQ(iterates.size() % 2, 0u);
  const std::size_t half = iterates.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    EXPECT_EQ(iterates[i].run, 0);
    EXPECT_EQ(iterates[half + i].run, 1);
    EXPECT_EQ(iterates[half + i].iteration, iterates[i].iteration);
    EXPECT_EQ(iterates[half + i].cost, iterates[i].cost);
  }
  trace.clear();
  EXPECT_TRUE(trace.iterates().empty());
}

TEST(NewtonTrace, LeavesTheResultAsItIs) {
  DenseProblem plain = make_smooth(), traced = make_smooth();
  NewtonTrace trace;
  NewtonOptions options;
  options.trace = &trace;
  (void)minimize(plain, {});
  (void)minimize(traced, options);
  EXPECT_EQ(plain.v, traced.v);
}

}  // namespace
}  // namespace stiction::numerics::newton_test
