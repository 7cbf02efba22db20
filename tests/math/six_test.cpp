#include "stiction/math/six.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/math/vec3.hpp"

namespace stiction::math::six_test {
namespace {

using Array6 = std::array<double, 6>;

/// Small integers: sums of their products are exact in any order.
std::vector<double> make_integers(int n, std::mt19937* rng) {
  std::uniform_int_distribution<int> integer(-9, 9);
  std::vector<double> x(n);
  for (double& xi : x) xi = integer(*rng);
  return x;
}

Array6 to_array(const Six& a) {
  Array6 x{};
  a.store(x.data());
  return x;
}

TEST(MultiplyAdd, RoundsOnce) {
  // a b = 1 - 2^-60, which a product rounds to 1.
  const double e = std::ldexp(1, -30), a = 1 + e, b = 1 - e, exact = -std::ldexp(1, -60);
  EXPECT_EQ(multiply_add(a, b, -1.0), exact);
  const Vec4 four = multiply_add(Vec4{a, a, a, a}, b, Vec4{-1, -1, -1, -1});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(four[i], exact);
  const Vec2 two = multiply_add(Vec2{a, a}, b, Vec2{-1, -1});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(two[i], exact);
}

TEST(BroadcastTo, KeepsTheSignOfZero) {
  const Vec4 four = broadcast_to<Vec4>(-0.0);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::signbit(four[i]));
  const Vec2 two = broadcast_to<Vec2>(-0.0);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(std::signbit(two[i]));
}

TEST(LoadThree, ReadsAndStoreThreeWritesThreeNumbers) {
  const double from[3] = {1, 2, 3};
  double to[5] = {7, 7, 7, 7, 7};
  store_three(to + 1, 2 * load_three(from));
  EXPECT_EQ((std::vector<double>(to, to + 5)), (std::vector<double>{7, 2, 4, 6, 7}));
}

TEST(Six, LoadsAndStoresAtAnyDouble) {
  std::vector<double> x(12), y(12, -1.0);
  for (int i = 0; i < 12; ++i) x[i] = i;
  for (int offset = 0; offset <= 6; ++offset) {
    const Six a = Six::load(&x[offset]);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(a[i], offset + i);
    std::fill(y.begin(), y.end(), -1.0);
    a.store(&y[offset]);
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(y[i], i >= offset && i < offset + 6 ? x[i] : -1) << "offset " << offset;
  }
}

TEST(Six, IsAVectorSpace) {
  const Array6 x = {1, 2, 3, 4, 5, 6}, y = {-6, 5, -4, 3, -2, 1};
  const Six a = Six::load(x.data()), b = Six::load(y.data());
  Six added = a, subtracted = a;
  added += b;
  subtracted -= b;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ((a + b)[i], x[i] + y[i]);
    EXPECT_EQ((a - b)[i], x[i] - y[i]);
    EXPECT_EQ((a * 3)[i], 3 * x[i]);
    EXPECT_EQ(multiply_add(a, 3, b)[i], 3 * x[i] + y[i]);
    EXPECT_EQ(added[i], x[i] + y[i]);
    EXPECT_EQ(subtracted[i], x[i] - y[i]);
    EXPECT_EQ(Six::zero()[i], 0);
    for (int j = 0; j < 6; ++j) EXPECT_EQ(Six::unit(i)[j], i == j);
  }
}

TEST(Six, DotIsTheSumOfProducts) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 100; ++trial) {
    const auto x = make_integers(6, &rng), y = make_integers(6, &rng);
    double expected = 0;
    for (int i = 0; i < 6; ++i) expected += x[i] * y[i];
    EXPECT_EQ(dot(Six::load(x.data()), Six::load(y.data())), expected);
  }
}

TEST(SixBySix, ProductsAreSumsOverColumns) {
  constexpr int kStride = 8;
  std::mt19937 rng(2);
  for (int trial = 0; trial < 100; ++trial) {
    const auto M = make_integers(6 * kStride, &rng), x = make_integers(6, &rng);
    Array6 expected{}, transposed{};
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) {
        expected[i] += M[i + j * kStride] * x[j];
        transposed[j] += M[i + j * kStride] * x[i];
      }
    const SixBySix matrix = SixBySix::load(M.data(), kStride);
    EXPECT_EQ(to_array(matrix * x.data()), expected);
    EXPECT_EQ(to_array(multiply(M.data(), kStride, x.data())), expected);
    EXPECT_EQ(to_array(multiply_transposed(M.data(), kStride, Six::load(x.data()))), transposed);
  }
}

TEST(SixBySix, IsAddedEntryByEntry) {
  constexpr int kStride = 7;
  std::mt19937 rng(3);
  const auto M = make_integers(6 * kStride, &rng), before = make_integers(6 * kStride, &rng);
  SixBySix sum = SixBySix::zero();
  sum += SixBySix::load(M.data(), kStride);
  sum += SixBySix::load(M.data(), kStride);
  auto after = before;
  sum.add_to(after.data(), kStride);
  for (int i = 0; i < kStride; ++i)
    for (int j = 0; j < 6; ++j) {
      const int at = i + j * kStride;
      EXPECT_EQ(after[at], before[at] + (i < 6 ? 2 * M[at] : 0)) << i << ", " << j;
    }
}

TEST(ShiftVelocity, AddsTheAngularVelocityTimesTheLever) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 100; ++trial) {
    const auto V = make_integers(6, &rng), r = make_integers(3, &rng);
    const Vec3 w = {V[0], V[1], V[2]};
    const Vec3 v = Vec3{V[3], V[4], V[5]} + cross(w, {r[0], r[1], r[2]});
    const Array6 expected = {w.x, w.y, w.z, v.x, v.y, v.z};
    EXPECT_EQ(to_array(shift_velocity(Six::load(V.data()), r.data())), expected);
  }
}

TEST(ShiftWrench, AddsTheMomentOfTheForce) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 100; ++trial) {
    const auto F = make_integers(6, &rng), r = make_integers(3, &rng);
    const Vec3 f = {F[3], F[4], F[5]};
    const Vec3 t = Vec3{F[0], F[1], F[2]} + cross({r[0], r[1], r[2]}, f);
    const Array6 expected = {t.x, t.y, t.z, f.x, f.y, f.z};
    EXPECT_EQ(to_array(shift_wrench(Six::load(F.data()), r.data())), expected);
  }
}

TEST(ShiftWrench, HasTheSamePowerAtBothPoints) {
  std::mt19937 rng(6);
  for (int trial = 0; trial < 100; ++trial) {
    const auto V = make_integers(6, &rng), F = make_integers(6, &rng), r = make_integers(3, &rng);
    const Six velocity = Six::load(V.data()), wrench = Six::load(F.data());
    EXPECT_EQ(dot(shift_velocity(velocity, r.data()), wrench),
              dot(velocity, shift_wrench(wrench, r.data())));
  }
}

}  // namespace
}  // namespace stiction::math::six_test
