#include "stiction/numerics/fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace stiction::numerics::fixed_point_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A map given by its value and derivative, in the form that the solver needs.
class Map {
 public:
  std::function<VectorXd(const VectorXd&)> g;
  std::function<MatrixXd(const VectorXd&)> derivative;
  double noise = 0;
  int fails_at = -1;  // index of the evaluation that fails
  VectorXd current;
  int num_evaluations = 0;
  std::vector<double> smoothings;

  bool evaluate(std::span<const double> x, std::span<double> out) {
    current = Eigen::Map<const VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
    const VectorXd value = g(current);
    std::copy(value.begin(), value.end(), out.begin());
    return num_evaluations++ != fails_at;
  }
  double resolution() const { return noise; }
  bool linearize() {
    derivative_ = derivative(current);
    return true;
  }
  void multiply(std::span<const double> x, std::span<double> y) const {
    const VectorXd product = derivative_ * Eigen::Map<const VectorXd>(x.data(), current.size());
    std::copy(product.begin(), product.end(), y.begin());
  }
  void predict(std::span<const double>) {}
  void set_smoothing(double factor) { smoothings.push_back(factor); }

 private:
  MatrixXd derivative_;
};

FixedPointResult solve(Map* map, VectorXd* x, const FixedPointOptions& options = {}) {
  std::vector<double> scratch(fixed_point_scratch_size(x->size()));
  return FixedPointSolver<Map>(map, options, {x->data(), static_cast<std::size_t>(x->size())},
                               scratch)
      .solve();
}

/// Returns the map a + b s(x), where s rises from 0 to 1 within `width` about `middle`.
Map make_rise(double a, double b, double middle, double width) {
  Map map;
  const auto s = [=](double x) { return 0.5 + 0.5 * std::tanh((x - middle) / width); };
  map.g = [=](const VectorXd& x) { return VectorXd::Constant(1, a + b * s(x[0])); };
  map.derivative = [=](const VectorXd& x) {
    return MatrixXd::Constant(1, 1, 2 * b / width * s(x[0]) * (1 - s(x[0])));
  };
  return map;
}

TEST(FixedPoint, ExactGuessTakesOneEvaluation) {
  Map map = make_rise(2, 0, 0, 1);
  VectorXd x = VectorXd::Constant(1, 2);
  const FixedPointResult result = solve(&map, &x);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.evaluations, 1);
  EXPECT_EQ(result.error, 0);
}

TEST(FixedPoint, AffineMapTakesOneEvaluationPerDigit) {
  // Newton's method does not need a contraction.
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  for (const double size : {0.1, 3.0}) {
    const int n = 12;
    Map map;
    const MatrixXd B = MatrixXd::NullaryExpr(n, n, [&] { return size * normal(rng) / n; });
    const VectorXd root = VectorXd::Constant(n, 5) + VectorXd::LinSpaced(n, 0, 1);
    map.g = [&](const VectorXd& x) -> VectorXd { return root + B * (x - root); };
    map.derivative = [&](const VectorXd&) { return B; };
    VectorXd x = VectorXd::Constant(n, 4);
    const FixedPointResult result = solve(&map, &x, {.tolerance = 1e-8});
    EXPECT_TRUE(result.converged) << size;
    // The tolerance of the linear solves gains a factor of 10 or more per evaluation.
    EXPECT_LE(result.evaluations, 10);
    EXPECT_LE((x - root).norm(), 1e-6 * root.norm());
  }
}

TEST(FixedPoint, FindsARootInTheDirectionOppositeToNewtons) {
  // g rises like 1.001 x + 0.05 and levels off. From below every Newton step goes far below zero.
  Map map;
  map.g = [](const VectorXd& x) {
    return VectorXd::Constant(1, std::min(0.05 + 1.001 * x[0], 4 + 0.1 * x[0]));
  };
  map.derivative = [](const VectorXd& x) {
    return MatrixXd::Constant(1, 1, 0.05 + 1.001 * x[0] < 4 + 0.1 * x[0] ? 1.001 : 0.1);
  };
  for (const double start : {0.0, 0.01, 1.0, 100.0}) {
    VectorXd x = VectorXd::Constant(1, start);
    const FixedPointResult result = solve(&map, &x, {.tolerance = 1e-9});
    EXPECT_TRUE(result.converged);
    EXPECT_NEAR(x[0], 4 / 0.9, 1e-7);
    EXPECT_LE(result.evaluations, 40);  // measured: 27
  }
}

TEST(FixedPoint, FindsARootThatThePlainIterationCircles) {
  // A rotation by 2 rad that doubles distances near the root and saturates far from it. The plain
  // iteration x <- g(x) ends in a cycle.
  const Eigen::Vector2d root(3, 4);
  const MatrixXd B = 2 * Eigen::Rotation2Dd(2).toRotationMatrix();
  Map map;
  map.g = [&](const VectorXd& x) -> VectorXd {
    const VectorXd d = x - root;
    return root + B * d / std::sqrt(1 + d.squaredNorm());
  };
  map.derivative = [&](const VectorXd& x) -> MatrixXd {
    const VectorXd d = x - root;
    const double h = std::sqrt(1 + d.squaredNorm());
    return B * (MatrixXd::Identity(2, 2) - d * d.transpose() / (h * h)) / h;
  };
  for (const double angle : {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}) {
    VectorXd x = root + 2.5 * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    const FixedPointResult result = solve(&map, &x, {.tolerance = 1e-9});
    EXPECT_TRUE(result.converged) << angle;
    EXPECT_LE((x - root).norm(), 1e-7);
  }
}

TEST(FixedPoint, FindsTheRootOfASteepMapFromAnywhere) {
  // g rises within a width far below the distance from the guess to the root.
  for (const double width : {1.0, 1e-2, 1e-4}) {
    for (const double start : {0.0, 0.5, 1.0, 3.0, 1e4}) {
      Map map = make_rise(0.2, 1.5, 1.0, width);
      VectorXd x = VectorXd::Constant(1, start);
      const FixedPointResult result = solve(&map, &x, {.tolerance = 1e-8});
      EXPECT_TRUE(result.converged) << "width " << width << " from " << start;
      EXPECT_NEAR(map.g(x)[0], x[0], 1e-7);
    }
  }
}

TEST(FixedPoint, NegativePointsCountAsZero) {
  // The tangent at the guess leads far below zero, where g has its value at zero.
  Map map;
  map.g = [](const VectorXd& x) {
    EXPECT_GE(x.minCoeff(), 0);
    return VectorXd::Constant(1, std::max(0.0, 8 * (x[0] - 1)) + 0.1);
  };
  map.derivative = [](const VectorXd& x) { return MatrixXd::Constant(1, 1, x[0] > 1 ? 8.0 : 0.0); };
  VectorXd x = VectorXd::Constant(1, 1.05);
  EXPECT_TRUE(solve(&map, &x).converged);
  EXPECT_GE(x[0], 0);
}

TEST(FixedPoint, ErrorsBelowTheResolutionDoNotCount) {
  Map map = make_rise(1e-12, 1e-12, 0, 1);
  map.noise = 1e-6;
  VectorXd x = VectorXd::Zero(1);
  const FixedPointResult result = solve(&map, &x);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.evaluations, 1);
}

TEST(FixedPoint, FailureReturnsTheBestPoint) {
  for (const int fails_at : {0, 1, 2, 3}) {
    Map map = make_rise(0.2, 1.5, 1.0, 0.3);
    map.fails_at = fails_at;
    VectorXd x = VectorXd::Constant(1, 50);
    const FixedPointResult result = solve(&map, &x, {.tolerance = 1e-14});
    EXPECT_FALSE(result.converged);
    EXPECT_EQ(map.current, x);
    if (fails_at == 0) {
      EXPECT_EQ(x[0], 50);
    } else {
      EXPECT_NEAR(result.error, std::abs(map.g(x)[0] - x[0]) / map.g(x)[0], 1e-12);
    }
  }
}

TEST(FixedPoint, WithoutAFixedPointTheBestPointIsReturnedAtTheLimit) {
  // The theory excludes this map: g jumps over the diagonal.
  Map map;
  map.g = [](const VectorXd& x) { return VectorXd::Constant(1, x[0] < 1 ? 1.5 : 0.5); };
  map.derivative = [](const VectorXd&) { return MatrixXd::Zero(1, 1); };
  VectorXd x = VectorXd::Constant(1, 7);
  const FixedPointResult result = solve(&map, &x, {.max_evaluations = 250});
  EXPECT_FALSE(result.converged);
  EXPECT_LE(result.evaluations, 251);
  EXPECT_LE(result.error, 1.0);
  EXPECT_EQ(map.current, x);
  ASSERT_FALSE(map.smoothings.empty());
  EXPECT_EQ(map.smoothings.back(), 1);
}

TEST(FixedPointPath, FollowsTheTurnsOfThePath) {
  // The path of x = lambda g(x) turns back twice before it reaches lambda = 1.
  Map map = make_rise(0.2, 2.0, 1.2, 0.1);
  double previous = 0;
  int num_turns = 0;
  bool rises = true;
  // The path is parametrized by x.
  for (double x = 0.01; x < 2.2; x += 0.01) {
    const double lambda = x / map.g(VectorXd::Constant(1, x))[0];
    if ((lambda > previous) != rises) ++num_turns, rises = !rises;
    previous = lambda;
  }
  ASSERT_GE(num_turns, 2);
  VectorXd x = VectorXd::Zero(1);
  std::vector<double> scratch(fixed_point_scratch_size(1));
  FixedPointState<Map> state(&map, {.tolerance = 1e-8}, {x.data(), 1}, scratch);
  FixedPointPath<Map>(&state, std::span(scratch).subspan(fixed_point_state_size(1))).follow();
  state.finish();
  EXPECT_TRUE(state.result().converged);
  EXPECT_LE(state.result().evaluations, 100);
}

}  // namespace
}  // namespace stiction::numerics::fixed_point_test
