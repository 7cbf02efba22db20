#include "stiction/math/vec3.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace stiction::math::vec3_test {
namespace {

Vec3 make_random(std::mt19937* rng) {
  std::normal_distribution<double> normal;
  return {normal(*rng), normal(*rng), normal(*rng)};
}

Vec3 make_random_unit(std::mt19937* rng) {
  const Vec3 a = make_random(rng);
  return a * (1 / norm(a));
}

/// A random rotation: two tangents of a random normal, and the normal.
Mat3 make_random_rotation(std::mt19937* rng) {
  Mat3 R;
  R.row[2] = make_random_unit(rng);
  R.row[0] = make_tangent(R.row[2]);
  R.row[1] = cross(R.row[2], R.row[0]);
  return R;
}

RigidTransform make_random_pose(std::mt19937* rng) {
  return {make_random_rotation(rng), make_random(rng)};
}

TEST(Vec3, ComponentsAreAddedAndScaled) {
  const Vec3 a = {1, -2, 3}, b = {4, 5, -6};
  EXPECT_EQ(a + b, (Vec3{5, 3, -3}));
  EXPECT_EQ(a - b, (Vec3{-3, -7, 9}));
  EXPECT_EQ(-a, (Vec3{-1, 2, -3}));
  EXPECT_EQ(a * 2, (Vec3{2, -4, 6}));
  EXPECT_EQ(2 * a, a * 2);
  Vec3 c = a;
  c += b;
  EXPECT_EQ(c, a + b);
  c -= b;
  EXPECT_EQ(c, a);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(b[i], i == 0 ? b.x : i == 1 ? b.y : b.z);
  EXPECT_EQ(componentwise_min(a, b), (Vec3{1, -2, -6}));
  EXPECT_EQ(componentwise_max(a, b), (Vec3{4, 5, 3}));
}

TEST(Vec3, ProductsHaveTheirClosedForms) {
  EXPECT_EQ(dot({1, -2, 3}, {4, 5, -6}), 4 - 10 - 18);
  EXPECT_EQ(norm({2, -3, 6}), 7);
  const Vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
  EXPECT_EQ(cross(x, y), z);
  EXPECT_EQ(cross(y, z), x);
  EXPECT_EQ(cross(z, x), y);
  EXPECT_EQ(cross(y, x), -z);
}

TEST(Vec3, OneBadComponentMakesItNotFinite) {
  EXPECT_TRUE(is_finite(Vec3{1, 2, 3}));
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_FALSE(is_finite(Vec3{bad, 0, 0}));
    EXPECT_FALSE(is_finite(Vec3{0, bad, 0}));
    EXPECT_FALSE(is_finite(Vec3{0, 0, bad}));
  }
}

TEST(MakeTangent, IsAUnitVectorPerpendicularToTheNormal) {
  constexpr double kRoundOff = 1e-15;
  std::mt19937 rng(1);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 n = make_random_unit(&rng), t = make_tangent(n);
    EXPECT_NEAR(norm(t), 1, 4 * kRoundOff);
    EXPECT_NEAR(dot(t, n), 0, 4 * kRoundOff);
  }
  EXPECT_EQ(make_tangent({0, 0, 1}), (Vec3{1, 0, 0}));
  EXPECT_EQ(make_tangent({0, 0, -1}), (Vec3{1, 0, 0}));
}

TEST(MakeTangent, JumpsOnlyAtTheEquator) {
  // Along a circle of latitude above the equator, nearby normals have nearby tangents. On opposite
  // sides of the equator they do not.
  constexpr int kSteps = 10'000;
  const double step = 2 * std::numbers::pi / kSteps;
  double largest = 0;
  const auto at = [&](int i, double z) {
    const double r = std::sqrt(1 - z * z);
    return Vec3{r * std::cos(i * step), r * std::sin(i * step), z};
  };
  for (int i = 0; i < kSteps; ++i)
    largest = std::max(largest, norm(make_tangent(at(i + 1, 0.1)) - make_tangent(at(i, 0.1))));
  EXPECT_LE(largest, 2.5 * step);
  EXPECT_GT(norm(make_tangent(at(0, 1e-9)) - make_tangent(at(0, -1e-9))), 1.9);
}

TEST(Mat3, ProductsAgreeWithTheirDefinition) {
  std::mt19937 rng(2);
  Mat3 m, n;
  for (int i = 0; i < 3; ++i) {
    m.row[i] = make_random(&rng);
    n.row[i] = make_random(&rng);
  }
  const Vec3 a = make_random(&rng);
  const Mat3 mn = m * n, mtn = transpose_times(m, n);
  const Vec3 ma = m * a, mta = transpose_times(m, a);
  for (int i = 0; i < 3; ++i) {
    double row = 0, column = 0;
    for (int k = 0; k < 3; ++k) {
      row += m.row[i][k] * a[k];
      column += m.row[k][i] * a[k];
    }
    EXPECT_NEAR(ma[i], row, 1e-14);
    EXPECT_NEAR(mta[i], column, 1e-14);
    for (int j = 0; j < 3; ++j) {
      double product = 0, transposed = 0;
      for (int k = 0; k < 3; ++k) {
        product += m.row[i][k] * n.row[k][j];
        transposed += m.row[k][i] * n.row[k][j];
      }
      EXPECT_NEAR(mn.row[i][j], product, 1e-14);
      EXPECT_NEAR(mtn.row[i][j], transposed, 1e-14);
    }
  }
  EXPECT_EQ(Mat3{} * a, a);  // The default is the identity.
}

TEST(RigidTransform, QuarterTurnMovesAPoint) {
  // The frame B is at (1, 2, 3) in A and is rotated by 90 degrees about z.
  const RigidTransform X_AB = {{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}}, {1, 2, 3}};
  EXPECT_EQ(X_AB * (Vec3{1, 0, 0}), (Vec3{1, 3, 3}));
  EXPECT_EQ(X_AB * (Vec3{0, 1, 5}), (Vec3{0, 2, 8}));
}

TEST(RigidTransform, ProductMovesByOneAfterTheOther) {
  std::mt19937 rng(3);
  for (int i = 0; i < 100; ++i) {
    const RigidTransform X = make_random_pose(&rng), Y = make_random_pose(&rng);
    const Vec3 x = make_random(&rng);
    EXPECT_LE(norm((X * Y) * x - X * (Y * x)), 1e-14);
  }
}

TEST(RigidTransform, InverseTimesUndoesTheFirst) {
  std::mt19937 rng(4);
  for (int i = 0; i < 100; ++i) {
    const RigidTransform X = make_random_pose(&rng), Y = make_random_pose(&rng);
    const Vec3 x = make_random(&rng);
    EXPECT_LE(norm(inverse_times(X, X * Y) * x - Y * x), 1e-14);
    EXPECT_LE(norm(X * (inverse_times(X, {}) * x) - x), 1e-14);
  }
}

TEST(Symmetric2, PrincipalAxesComposeTheMatrix) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> number(-3, 3);
  for (int trial = 0; trial < 100; ++trial) {
    Symmetric2 m;
    for (double* x : {&m.xx, &m.xy, &m.yy}) *x = number(rng);
    const PrincipalAxes p = calc_principal_axes(m);
    // Sums of a few numbers up to 6 in double precision.
    constexpr double kRounding = 1e-14;
    EXPECT_LE(p.least, p.most);
    EXPECT_NEAR(std::hypot(p.x, p.y), 1, kRounding);
    EXPECT_NEAR(p.most * p.x * p.x + p.least * p.y * p.y, m.xx, kRounding);
    EXPECT_NEAR((p.most - p.least) * p.x * p.y, m.xy, kRounding);
    EXPECT_NEAR(p.most * p.y * p.y + p.least * p.x * p.x, m.yy, kRounding);
  }
}

TEST(Symmetric2, AMultipleOfTheIdentityHasEqualEigenvalues) {
  const PrincipalAxes p = calc_principal_axes({2, 0, 2});
  EXPECT_EQ(p.least, 2);
  EXPECT_EQ(p.most, 2);
  EXPECT_EQ(std::hypot(p.x, p.y), 1);
}

}  // namespace

}  // namespace stiction::math::vec3_test
