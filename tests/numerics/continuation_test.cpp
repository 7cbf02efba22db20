#include "stiction/numerics/newton.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace stiction::numerics::continuation_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// 1/2 |v - c|^2 + s K/2 (mu |v_t|_s - v_n)_+^2: a stiff spring keeps v in a cone. The cone has a
/// rounded tip, |v_t|_s = sqrt(v_t.v_t + eps^2) - eps.
class Cone {
 public:
  double mu = 1, eps = 1e-4, K = 1e11;
  Vector3d c = {3, -1, 0.5};
  Vector3d v = Vector3d::Zero();
  int num_continuation_steps = 0;

  /// Returns the point of the sharp cone nearest to c, which lies outside the cone.
  Vector3d project() const {
    const Vector3d side(c[0], c[1], mu * c.head<2>().norm());
    return side * (c.dot(side) / side.squaredNorm());
  }

  Residual calc_gradient() {
    g_ = calc_gradient_at(v);
    return {g_.norm(), c.norm()};
  }
  bool calc_direction() {
    const Eigen::LLT<Matrix3d> llt(calc_hessian_at(v));
    if (llt.info() != Eigen::Success) return false;
    direction_ = -llt.solve(g_);
    return true;
  }
  double start_line_search() { return g_.dot(direction_); }
  Slope calc_slope(double alpha) {
    const Vector3d at = v + alpha * direction_;
    return {calc_gradient_at(at).dot(direction_), direction_.dot(calc_hessian_at(at) * direction_)};
  }
  double move(double alpha) {
    v += alpha * direction_;
    return alpha * direction_.norm();
  }
  void set_continuation_parameter(double s) {
    s_ = s;
    ++num_continuation_steps;
  }
  double stiffness() const { return K; }
  double sensitivity() const { return stiffness(); }
  bool refine() { return false; }

 private:
  double calc_depth(const Vector3d& at) const {
    return mu * (std::hypot(at[0], at[1], eps) - eps) - at[2];
  }
  Vector3d calc_normal(const Vector3d& at) const {
    const double h = std::hypot(at[0], at[1], eps);
    return {mu * at[0] / h, mu * at[1] / h, -1};
  }
  Vector3d calc_gradient_at(const Vector3d& at) const {
    return at - c + s_ * K * std::max(calc_depth(at), 0.0) * calc_normal(at);
  }
  Matrix3d calc_hessian_at(const Vector3d& at) const {
    const double depth = calc_depth(at);
    if (depth <= 0) return Matrix3d::Identity();
    const double h = std::hypot(at[0], at[1], eps);
    const Vector3d n = calc_normal(at), t(at[0] / h, at[1] / h, 0);
    Matrix3d curvature = Matrix3d::Zero();
    curvature.topLeftCorner<2, 2>() =
        (Eigen::Matrix2d::Identity() - t.head<2>() * t.head<2>().transpose()) * mu / h;
    return Matrix3d::Identity() + s_ * K * (n * n.transpose() + depth * curvature);
  }

  double s_ = 1;
  Vector3d g_, direction_;
};
static_assert(StiffProblem<Cone>);

constexpr auto kNewton = [](auto& problem, const NewtonOptions& options) {
  return minimize(problem, options);
};

TEST(Continuation, FollowsACurvedValleyThatStopsPlainNewton) {
  for (const double K : {1e8, 1e9, 1e10}) {
    Cone plain, stiff;
    plain.K = stiff.K = K;
    // The start is on the far side of the cone, so the path to the minimum leads around it.
    plain.v = stiff.v = {-2, -1, plain.mu * std::hypot(2, 1)};
    const NewtonResult stuck = minimize(plain, {});
    EXPECT_EQ(stuck.status, NewtonStatus::kMaxIterations) << K;
    const NewtonResult result = minimize_stiff(stiff, {}, kNewton);
    EXPECT_EQ(result.status, NewtonStatus::kConverged) << K;
    EXPECT_LE(result.residual.norm, 1e-5 * result.residual.scale);
    EXPECT_LE(result.iterations, 100) << K;
    // The error comes from the rounded tip, the finite stiffness and the tolerance.
    EXPECT_LE((stiff.v - stiff.project()).norm(), 2 * stiff.eps + 10 / K + 1e-4) << K;
  }
}

TEST(Continuation, IsNotUsedIfPlainNewtonConverges) {
  Cone plain, stiff;
  plain.K = stiff.K = 10;
  const NewtonResult expected = minimize(plain, {}), result = minimize_stiff(stiff, {}, kNewton);
  EXPECT_EQ(result.status, NewtonStatus::kConverged);
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_EQ(stiff.v, plain.v);
  EXPECT_EQ(stiff.num_continuation_steps, 0);
}

TEST(Continuation, RespectsALowIterationLimit) {
  Cone cone;
  cone.v = {-2, -1, 3};
  NewtonOptions options;
  options.max_iterations = 3;
  const NewtonResult result = minimize_stiff(cone, options, kNewton);
  EXPECT_EQ(result.status, NewtonStatus::kMaxIterations);
  EXPECT_EQ(result.iterations, 3);
}

/// 1/2 (v - 1)^2 + K/2 (v - b)^2. With v in double precision the error of the gradient is up to
/// K ulp(v) / 2.
class Spring {
 public:
  static constexpr double kStiffness = 1e13, kPlace = 1.0 / 3;
  double v = 0, v_low = 0;  // high and low digits of v
  bool is_fine = false;

  Residual calc_gradient() {
    g_ = calc_gradient_at(0);
    return {std::abs(g_), 1};
  }
  bool calc_direction() {
    direction_ = -g_ / (1 + kStiffness);
    return true;
  }
  double start_line_search() { return g_ * direction_; }
  Slope calc_slope(double alpha) {
    return {calc_gradient_at(alpha * direction_) * direction_,
            direction_ * direction_ * (1 + kStiffness)};
  }
  double move(double alpha) {
    const long double sum = static_cast<long double>(v) + v_low + alpha * direction_;
    v = static_cast<double>(sum);
    if (is_fine) v_low = static_cast<double>(sum - v);
    return std::abs(alpha * direction_);
  }
  void set_continuation_parameter(double) {}
  double stiffness() const { return kStiffness; }
  double sensitivity() const { return stiffness(); }
  bool refine() {
    const bool was_fine = is_fine;
    is_fine = true;
    return !was_fine;
  }

 private:
  double calc_gradient_at(double step) const {
    const long double at = static_cast<long double>(v) + v_low + step;
    return static_cast<double>(at - 1 + kStiffness * (at - kPlace));
  }
  double g_ = 0, direction_ = 0;
};

TEST(Continuation, RefinesWhereRoundingStopsNewton) {
  if (sizeof(long double) == sizeof(double)) GTEST_SKIP() << "long double has no more digits";
  Spring plain;
  const NewtonResult coarse = minimize(plain, {});
  EXPECT_EQ(coarse.status, NewtonStatus::kStagnated);
  EXPECT_GT(coarse.residual.norm, 1e-5);
  Spring fine;
  const NewtonResult result = minimize_stiff(fine, {}, kNewton);
  EXPECT_EQ(result.status, NewtonStatus::kConverged);
  EXPECT_TRUE(fine.is_fine);
  EXPECT_LE(result.residual.norm, 1e-5);
  EXPECT_LE(std::abs(fine.v_low), 3e-17);  // half a unit in the last place of 1/3
}

}  // namespace
}  // namespace stiction::numerics::continuation_test
