#include "stiction/laws/friction_regularization.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "support/eigenvalues.hpp"

namespace stiction::laws::friction_regularization_test {
namespace {

/// The soft norm of one contact, in Eigen's types.
template <int kSize>
struct Soft {
  using Vector = Eigen::Matrix<double, kSize, 1>;
  using Matrix = Eigen::Matrix<double, kSize, kSize>;

  Soft(const Vector& slip, double eps) : u(slip), soft(u.data(), eps), t(soft.t) {}
  double norm() const { return soft.norm(); }
  double inv_h() const { return soft.inv_h; }
  bool is_slipping() const { return soft.is_slipping(); }
  Matrix direction_gradient() const {
    return Matrix::NullaryExpr([this](Eigen::Index i, Eigen::Index j) {
      return soft.curvature(static_cast<int>(i), static_cast<int>(j), Curvature::kExact);
    });
  }

  Vector u;
  SoftNorm<kSize, double> soft;
  Vector t;
};

template <class Size>
class SoftNormTest : public testing::Test {};
template <int n>
struct Size {
  static constexpr int value = n;
};
using Sizes = testing::Types<Size<1>, Size<2>, Size<5>>;
TYPED_TEST_SUITE(SoftNormTest, Sizes);

template <int kSize>
Eigen::Matrix<double, kSize, 1> random_direction(std::mt19937* rng) {
  std::normal_distribution<double> normal;
  return Eigen::Matrix<double, kSize, 1>::NullaryExpr([&] { return normal(*rng); }).normalized();
}

/// Ratios of slip to tolerance, from stiction to fast slip.
constexpr double kRatios[] = {0, 1e-12, 1e-6, 1e-3, 0.5, 1, 2, 1e3, 1e6, 1e9, 1e12};

TYPED_TEST(SoftNormTest, NormAgreesWithExtendedPrecision) {
  constexpr int n = TypeParam::value;
  std::mt19937 rng(1);
  for (const double eps : {1e-9, 1e-4, 1.0}) {
    for (const double ratio : kRatios) {
      const Soft<n> soft(ratio * eps * random_direction<n>(&rng), eps);
      const long double r2 = soft.u.template cast<long double>().squaredNorm();
      const long double h = std::sqrt(r2 + static_cast<long double>(eps) * eps);
      const double norm = static_cast<double>(r2 / (h + eps));
      EXPECT_NEAR(soft.norm(), norm, 4e-16 * norm);
      EXPECT_NEAR(soft.inv_h(), static_cast<double>(1 / h), 4e-16 / static_cast<double>(h));
      EXPECT_LE(soft.t.norm(), 1 + 3e-16);
    }
  }
}

TYPED_TEST(SoftNormTest, DirectionIsTheGradientOfTheNorm) {
  constexpr int n = TypeParam::value;
  std::mt19937 rng(2);
  for (const double ratio : kRatios) {
    const double eps = 1e-4;
    const Soft<n> soft(ratio * eps * random_direction<n>(&rng), eps);
    const double h = 1e-3 / soft.inv_h();  // the norm varies over a length of 1 / inv_h
    for (int i = 0; i < n; ++i) {
      const auto norm_at = [&](double step) {
        return Soft<n>(soft.u + step * Eigen::Matrix<double, n, 1>::Unit(i), eps).norm();
      };
      const double difference =
          (8 * (norm_at(h) - norm_at(-h)) - (norm_at(2 * h) - norm_at(-2 * h))) / (12 * h);
      // The tolerance covers the truncation error (1e-3)^4 and the round-off of the norm over h.
      EXPECT_NEAR(soft.t[i], difference, 1e-11 + 4e-16 * soft.norm() / h);
    }
  }
}

TYPED_TEST(SoftNormTest, DirectionGradientAgreesWithDifferences) {
  constexpr int n = TypeParam::value;
  std::mt19937 rng(3);
  for (const double ratio : kRatios) {
    const double eps = 1e-4;
    const Soft<n> soft(ratio * eps * random_direction<n>(&rng), eps);
    const double h = 1e-3 / soft.inv_h();
    for (int i = 0; i < n; ++i) {
      const auto t_at = [&](double step) {
        return Soft<n>(soft.u + step * Eigen::Matrix<double, n, 1>::Unit(i), eps).t.eval();
      };
      const auto difference =
          ((8 * (t_at(h) - t_at(-h)) - (t_at(2 * h) - t_at(-2 * h))) / (12 * h)).eval();
      EXPECT_LE((soft.direction_gradient().col(i) - difference).norm(), 1e-11 * soft.inv_h());
    }
  }
}

TYPED_TEST(SoftNormTest, DirectionGradientHasTheTheoreticalEigenvalues) {
  // They are 1 / h across the slip and eps^2 / h^3 along it, 18 decades apart at a ratio of 1e9.
  constexpr int n = TypeParam::value;
  std::mt19937 rng(4);
  for (const double ratio : kRatios) {
    const double eps = 1e-4;
    const Soft<n> soft(ratio * eps * random_direction<n>(&rng), eps);
    const auto gradient = soft.direction_gradient();
    EXPECT_LE((gradient - gradient.transpose()).norm(), 4e-16 * gradient.norm());
    const auto eigenvalues = support::calc_eigenvalues(gradient);
    const double along = eps * eps * std::pow(soft.inv_h(), 3);
    EXPECT_NEAR(eigenvalues[0], along, 1e-15 * soft.inv_h() * n + 1e-14 * along);
    for (int i = 1; i < n; ++i) EXPECT_NEAR(eigenvalues[i], soft.inv_h(), 1e-14 * soft.inv_h());
  }
}

TYPED_TEST(SoftNormTest, StiffnessAlongTheSlipDoesNotCancel) {
  // For slip along an axis, the entry is exact except for round-off, at any slip.
  constexpr int n = TypeParam::value;
  for (const double ratio : kRatios) {
    const double eps = 1e-4, slip = ratio * eps;
    const Soft<n> soft(slip * Eigen::Matrix<double, n, 1>::Unit(0), eps);
    const long double h =
        std::sqrt(static_cast<long double>(slip) * slip + static_cast<long double>(eps) * eps);
    const double along = static_cast<double>(eps * eps / (h * h * h));
    EXPECT_NEAR(soft.direction_gradient()(0, 0), along, 2e-15 * along);
  }
}

TEST(SoftNorm, SlipsBeyondItsTolerance) {
  EXPECT_FALSE(Soft<2>(Eigen::Vector2d(0, 0), 1e-4).is_slipping());
  EXPECT_FALSE(Soft<2>(Eigen::Vector2d(0.9e-4, 0), 1e-4).is_slipping());
  EXPECT_TRUE(Soft<2>(Eigen::Vector2d(0.8e-4, 0.8e-4), 1e-4).is_slipping());
}

}  // namespace
}  // namespace stiction::laws::friction_regularization_test
