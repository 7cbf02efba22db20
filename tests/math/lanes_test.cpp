#include "stiction/math/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stiction/math/vec3.hpp"

namespace stiction::math::lanes_test {
namespace {

Lanes make_random(std::mt19937* rng) {
  std::normal_distribution<double> normal;
  Lanes a{};
  for (int i = 0; i < kNumLanes; ++i) a[i] = normal(*rng);
  return a;
}

Lanes3 make_random_vectors(std::mt19937* rng) {
  return {make_random(rng), make_random(rng), make_random(rng)};
}

Vec3 get_vector(const Lanes3& a, int lane) { return {a.x[lane], a.y[lane], a.z[lane]}; }

void expect_near(const Vec3& a, const Vec3& b) {
  constexpr double kTolerance = 1e-14;
  EXPECT_LE(norm(a - b), kTolerance * (1 + norm(b)));
}

TEST(Lanes, BroadcastFillsEveryLane) {
  const Lanes a = broadcast(2.5);
  for (int i = 0; i < kNumLanes; ++i) EXPECT_EQ(a[i], 2.5);
}

TEST(Lanes, SumAddsAllLanes) { EXPECT_EQ(sum(Lanes{1, 20, 300, 4000}), 4321); }

TEST(Lanes, SumEachHasTheBitsOfSum) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 1000; ++trial) {
    const Lanes a = make_random(&rng), b = make_random(&rng), c = make_random(&rng),
                d = make_random(&rng);
    const Lanes sums = sum_each(a, b, c, d);
    EXPECT_EQ(sums[0], sum(a));
    EXPECT_EQ(sums[1], sum(b));
    EXPECT_EQ(sums[2], sum(c));
    EXPECT_EQ(sums[3], sum(d));
  }
}

TEST(Lanes, TransposeSwapsRowsAndLanes) {
  const Lanes rows[4] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}, {30, 31, 32, 33}};
  const auto [a, b, c, d] = transpose(rows[0], rows[1], rows[2], rows[3]);
  const Lanes columns[4] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k) EXPECT_EQ(columns[k][i], rows[i][k]) << i << ", " << k;
}

TEST(Lanes, SqrtHasTheBitsOfTheScalar) {
  const Lanes x = {0, 2, 1e-300, 1e300}, root = sqrt(x);
  for (int i = 0; i < kNumLanes; ++i) EXPECT_EQ(root[i], std::sqrt(x[i]));
}

TEST(Lanes, ExtremaAreTakenLaneByLane) {
  const Lanes a = {1, -2, 3, -4}, b = {-1, 2, 3, -5}, larger = max(a, b), smaller = min(a, b);
  for (int i = 0; i < kNumLanes; ++i) {
    EXPECT_EQ(larger[i], std::max(a[i], b[i]));
    EXPECT_EQ(smaller[i], std::min(a[i], b[i]));
  }
}

TEST(Lanes, ExtremaWithNotANumberFirstAreTheSecond) {
  const double nan = std::nan("");
  EXPECT_EQ(max(nan, 1.0), 1);
  EXPECT_EQ(min(nan, 1.0), 1);
  EXPECT_TRUE(std::isnan(max(1.0, nan)));
  const Lanes larger = max(Lanes{nan, 0, nan, 0}, Lanes{1, 1, -1, -1});
  const Lanes expected = {1, 1, -1, 0};
  for (int i = 0; i < kNumLanes; ++i) EXPECT_EQ(larger[i], expected[i]);
}

TEST(Lanes3, IsAVectorInEachLane) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Lanes3 a = make_random_vectors(&rng), b = make_random_vectors(&rng);
    const Lanes s = make_random(&rng), product = dot(a, b);
    Lanes3 added = a;
    added += b;
    for (int i = 0; i < kNumLanes; ++i) {
      const Vec3 ai = get_vector(a, i), bi = get_vector(b, i);
      EXPECT_NEAR(product[i], dot(ai, bi), 1e-14);
      expect_near(get_vector(a + b, i), ai + bi);
      expect_near(get_vector(added, i), ai + bi);
      expect_near(get_vector(a * s, i), ai * s[i]);
      expect_near(get_vector(multiply_add(a, s, b), i), ai * s[i] + bi);
      expect_near(get_vector(cross(a, b), i), cross(ai, bi));
    }
  }
}

TEST(LanesSymmetric3, IsASymmetricMatrixInEachLane) {
  std::mt19937 rng(3);
  LanesSymmetric3 m = {make_random(&rng), make_random(&rng), make_random(&rng),
                       make_random(&rng), make_random(&rng), make_random(&rng)};
  const Lanes3 a = make_random_vectors(&rng), once = m * a;
  for (int i = 0; i < kNumLanes; ++i) {
    const Mat3 matrix = {
        {{m.xx[i], m.xy[i], m.xz[i]}, {m.xy[i], m.yy[i], m.yz[i]}, {m.xz[i], m.yz[i], m.zz[i]}}};
    expect_near(get_vector(once, i), matrix * get_vector(a, i));
  }
  m += m;
  const Lanes3 twice = m * a;
  for (int i = 0; i < kNumLanes; ++i) EXPECT_EQ(get_vector(twice, i), 2 * get_vector(once, i));
}

TEST(Elementary, ADoubleHasOneLaneAndLanesHaveFour) {
  EXPECT_EQ(count_lanes<double>(), 1);
  EXPECT_EQ(count_lanes<Lanes>(), kNumLanes);
  double x = 1;
  EXPECT_EQ(get_lane(x, 0), 1);
  set_lane(&x, 0, 2.0);
  EXPECT_EQ(x, 2);
  Lanes lanes = {1, 2, 3, 4};
  set_lane(&lanes, 2, 7.0);
  for (int i = 0; i < kNumLanes; ++i) EXPECT_EQ(get_lane(lanes, i), i == 2 ? 7 : i + 1);
}

TEST(Elementary, MapCallsTheFunctionForEachLane) {
  const auto square = [](double a) { return a * a; };
  EXPECT_EQ(map(3.0, square), 9);
  const Lanes y = map(Lanes{1, 2, 3, 4}, square);
  for (int i = 0; i < kNumLanes; ++i) EXPECT_EQ(y[i], (i + 1) * (i + 1));
}

TEST(Elementary, FunctionsHaveTheBitsOfTheScalar) {
  const Lanes x = {1e-12, 0.3, 2, 1e9}, l = log(x), l1 = log1p(x), a = atan(x);
  for (int i = 0; i < kNumLanes; ++i) {
    EXPECT_EQ(l[i], log(x[i]));
    EXPECT_EQ(l1[i], log1p(x[i]));
    EXPECT_EQ(a[i], atan(x[i]));
  }
}

}  // namespace

}  // namespace stiction::math::lanes_test
