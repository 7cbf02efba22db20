#include "stiction/laws/friction.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "support/eigenvalues.hpp"

namespace stiction::laws::friction_test {
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
  bool is_beyond_tolerance() const { return soft.is_beyond_tolerance(); }
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

// A contact holds a load of 98 % of its bound, at a creep of 5 times the slip tolerance.
TEST(SoftNorm, SlipsAtItsBound) {
  for (const double share : {0.0, 0.72, 0.98, 0.9899, 0.9901, 0.9999}) {
    const double slip = 1e-4 * share / std::sqrt(1 - share * share);
    EXPECT_EQ(Soft<2>(Eigen::Vector2d(0.6 * slip, 0.8 * slip), 1e-4).is_slipping(), share > 0.99)
        << share;
  }
  EXPECT_FALSE(Soft<2>(Eigen::Vector2d(0.9e-4, 0), 1e-4).is_beyond_tolerance());
  EXPECT_TRUE(Soft<2>(Eigen::Vector2d(0.8e-4, 0.8e-4), 1e-4).is_beyond_tolerance());
}

using Kind = FrictionRegularizationKind;
constexpr Kind kKinds[] = {Kind::soft, Kind::quadratic, Kind::arctan, Kind::elastic};

/// Ratios of slip to tolerance, from stiction to 1e12.
constexpr double kSlipRatios[] = {0,   1e-300, 1e-160, 1e-12, 1e-8, 1e-6, 1e-3, 0.3,
                                  0.9, 1.1,    3,      1e3,   1e6,  1e9,  1e12};

/// f, F and f' by the formulas of [theory:friction-regularization], in extended precision.
struct Formula {
  long double f, F, df;
};
Formula calc_formula(Kind kind, long double s) {
  const long double two_over_pi = 2 / std::acos(-1.0L);
  switch (kind) {
    case Kind::soft: {
      const long double h = std::hypot(1.0L, s);
      return {s / h, s * s / (h + 1), 1 / (h * h * h)};
    }
    case Kind::quadratic:
      if (s < 1) return {s * (2 - s), s * s - s * s * s / 3, 2 - 2 * s};
      return {1, s - 1.0L / 3, 0};
    case Kind::elastic:
      if (s <= 1) return {s, s * s / 2, 1};
      return {1, s - 0.5L, 0};
    default: {
      // The difference in F cancels below 1e-4, where the series s^2 / 2 - s^4 / 12 is exact.
      const long double F =
          s < 1e-4L ? s * s / 2 - s * s * s * s / 12 : s * std::atan(s) - std::log1p(s * s) / 2;
      return {two_over_pi * std::atan(s), two_over_pi * F, two_over_pi / (1 + s * s)};
    }
  }
}

template <int kSize>
Eigen::Matrix<double, kSize, 1> random_vector(std::mt19937* rng) {
  std::normal_distribution<double> normal;
  return Eigen::Matrix<double, kSize, 1>::NullaryExpr([&] { return normal(*rng); });
}

template <int kSize>
Eigen::Matrix<double, kSize, kSize> hessian(const SlipNorm<kSize, double>& norm) {
  return Eigen::Matrix<double, kSize, kSize>::NullaryExpr([&](Eigen::Index i, Eigen::Index j) {
    return norm.curvature(static_cast<int>(i), static_cast<int>(j), Curvature::kExact);
  });
}

TEST(SlipNorm, EqualsTheFormulaAtAnySlip) {
  std::mt19937 rng(1);
  for (const Kind kind : kKinds) {
    for (const double eps : {1e-9, 1e-4, 1.0}) {
      for (const double ratio : kSlipRatios) {
        const Eigen::Vector2d u = ratio * eps * random_vector<2>(&rng).normalized();
        const SlipNorm<2, double> norm(u.data(), eps, kind);
        const long double r = std::hypot(static_cast<long double>(u[0]), u[1]);
        const Formula expected = calc_formula(kind, r / eps);
        const std::string_view name = name_of(kind);
        const double F = static_cast<double>(eps * expected.F);
        // Squares of slips below 1e-154 have fewer digits, or none.
        const bool is_tiny = static_cast<double>(r) < 1e-150;
        EXPECT_NEAR(norm.norm(), F, is_tiny ? 1e-300 : 2e-15 * F) << name << " " << ratio;
        const double f = static_cast<double>(expected.f);
        EXPECT_NEAR(std::hypot(norm.t[0], norm.t[1]), f, 2e-15 * f) << name << " " << ratio;
        EXPECT_LE(std::hypot(norm.t[0], norm.t[1]), 1 + 4e-16);
        const double along = static_cast<double>(expected.df / eps);
        EXPECT_NEAR(norm.along, along, 1e-14 * along + 4e-16 / eps * (kind == Kind::quadratic))
            << name << " " << ratio;
        EXPECT_EQ(norm.is_beyond_tolerance(), static_cast<double>(r) > eps);
        // The soft law reaches its share at s = 7.018, the arctangent at s = 63.66; the others
        // reach the whole bound at s = 1.
        const double at_bound = kind == Kind::soft ? 7.018 : kind == Kind::arctan ? 63.66 : 1;
        EXPECT_EQ(norm.is_slipping(), static_cast<double>(r) > at_bound * eps)
            << name << " " << ratio;
      }
    }
  }
}

template <class Size>
class SlipNormSizes : public testing::Test {};
TYPED_TEST_SUITE(SlipNormSizes, Sizes);

TYPED_TEST(SlipNormSizes, GradientAndHessianAgreeWithDifferences) {
  constexpr int n = TypeParam::value;
  using Vector = Eigen::Matrix<double, n, 1>;
  std::mt19937 rng(2);
  const double eps = 1e-4;
  for (const Kind kind : kKinds) {
    for (const double ratio : kSlipRatios) {
      const Vector u = ratio * eps * random_vector<n>(&rng).normalized();
      const SlipNorm<n, double> norm(u.data(), eps, kind);
      // The norm varies over a length of the slip plus the tolerance. The second derivative of the
      // quadratic one jumps at s = 1. As a function of a vector, its third derivative jumps at 0.
      const double length = ratio * eps + eps;
      const double h = 1e-3 * length;
      const auto at = [&](int i, double steps) {
        const Vector moved = u + steps * h * Vector::Unit(i);
        return SlipNorm<n, double>(moved.data(), eps, kind);
      };
      for (int i = 0; i < n; ++i) {
        const auto difference = [&](auto&& f) {
          return (8 * (f(at(i, 1)) - f(at(i, -1))) - (f(at(i, 2)) - f(at(i, -2)))) / (12 * h);
        };
        const double truncation = kind == Kind::quadratic && ratio < 1e-2 ? 2e-3 : 1e-9;
        EXPECT_NEAR(norm.t[i], difference([](const auto& s) { return s.norm(); }),
                    truncation * 1e-1 + 1e-15 * norm.norm() / h)
            << name_of(kind) << " " << ratio;
        for (int j = 0; j < n; ++j) {
          EXPECT_NEAR(norm.curvature(i, j, Curvature::kExact),
                      difference([&](const auto& s) { return s.t[j]; }),
                      truncation * norm.across + 4e-15 / h)
              << name_of(kind) << " " << ratio;
          EXPECT_EQ(norm.curvature(i, j, Curvature::kSecant), i == j ? norm.across : 0);
        }
      }
    }
  }
}

TYPED_TEST(SlipNormSizes, HessianIsSymmetricAndPositiveSemidefinite) {
  constexpr int n = TypeParam::value;
  std::mt19937 rng(3);
  for (const Kind kind : kKinds) {
    for (const double ratio : kSlipRatios) {
      const double eps = 1e-4;
      const Eigen::Matrix<double, n, 1> u = ratio * eps * random_vector<n>(&rng).normalized();
      const SlipNorm<n, double> norm(u.data(), eps, kind);
      const auto H = hessian(norm);
      EXPECT_TRUE(H.allFinite());
      EXPECT_EQ((H - H.transpose()).norm(), 0);
      const auto eigenvalues = support::calc_eigenvalues(H);
      EXPECT_GE(eigenvalues[0], -4e-16 * n * norm.across);
      EXPECT_NEAR(eigenvalues[0], norm.along, 1e-14 * norm.across);
      if (n > 1) {
        EXPECT_NEAR(eigenvalues[n - 1], norm.across, 1e-14 * norm.across);
      }
      // The secant curvature is at least the exact one, because f(s) / s does not increase.
      EXPECT_LE(norm.along, norm.across * (1 + 1e-15));
    }
  }
}

TYPED_TEST(SlipNormSizes, DerivativesAlongALineAgreeWithGradientAndHessian) {
  constexpr int n = TypeParam::value;
  std::mt19937 rng(4);
  for (const Kind kind : kKinds) {
    for (const double ratio : kSlipRatios) {
      const double eps = 1e-4;
      const Eigen::Matrix<double, n, 1> u = ratio * eps * random_vector<n>(&rng).normalized();
      const Eigen::Matrix<double, n, 1> du = random_vector<n>(&rng);
      const SlipNorm<n, double> norm(u.data(), eps, kind);
      double slope = 0;
      for (int i = 0; i < n; ++i) slope += norm.t[i] * du[i];
      EXPECT_NEAR(norm.slope_along(du.data()), slope, 1e-14 * du.norm());
      EXPECT_NEAR(norm.curvature_along(du.data()), du.dot(hessian(norm) * du),
                  1e-14 * norm.across * du.squaredNorm());
      if (kind != Kind::soft) continue;
      const SoftNorm<n, double> soft(u.data(), eps);
      EXPECT_NEAR(soft.slope_along(du.data()), slope, 1e-14 * du.norm());
      EXPECT_NEAR(soft.curvature_along(du.data()), du.dot(hessian(norm) * du),
                  1e-14 * norm.across * du.squaredNorm());
    }
  }
}

TEST(SlipNorm, WithTheSoftFunctionEqualsSoftNorm) {
  std::mt19937 rng(5);
  for (const double ratio : kSlipRatios) {
    const double eps = 1e-3;
    const Eigen::Matrix<double, 5, 1> u = ratio * eps * random_vector<5>(&rng);
    const SlipNorm<5, double> norm(u.data(), eps, Kind::soft);
    const SoftNorm<5, double> soft(u.data(), eps);
    EXPECT_NEAR(norm.norm(), soft.norm(), 2e-15 * soft.norm());
    for (int i = 0; i < 5; ++i) {
      EXPECT_NEAR(norm.t[i], soft.t[i], 2e-15);
      for (int j = 0; j < 5; ++j)
        EXPECT_NEAR(norm.curvature(i, j, Curvature::kExact),
                    soft.curvature(i, j, Curvature::kExact), 4e-15 * soft.inv_h);
    }
  }
}

TEST(SlipNorm, LanesAgreeWithOneNumber) {
  std::mt19937 rng(6);
  for (const Kind kind : kKinds) {
    for (const double ratio : kSlipRatios) {
      math::Lanes u[2];
      for (int lane = 0; lane < 4; ++lane) {
        const Eigen::Vector2d slip = ratio * 1e-4 * random_vector<2>(&rng);
        u[0][lane] = slip[0];
        u[1][lane] = slip[1];
      }
      const SlipNorm<2, math::Lanes> four(u, math::broadcast(1e-4), kind);
      for (int lane = 0; lane < 4; ++lane) {
        const double slip[2] = {u[0][lane], u[1][lane]};
        const SlipNorm<2, double> one(slip, 1e-4, kind);
        EXPECT_EQ(four.norm()[lane], one.norm());
        EXPECT_EQ(four.t[1][lane], one.t[1]);
        for (int i = 0; i < 2; ++i)
          EXPECT_EQ(four.curvature(i, 1, Curvature::kExact)[lane],
                    one.curvature(i, 1, Curvature::kExact));
      }
    }
  }
}

}  // namespace

}  // namespace stiction::laws::friction_test
