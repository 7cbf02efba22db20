#include "stiction/math/six.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace stiction::math::double_double_test {
namespace {

TEST(DoubleDouble, SumsAndProductsOfTwoDoublesAreExact) {
  const DoubleDouble sum = DoubleDouble::sum(1, 0x1p-80);
  EXPECT_EQ(sum.high, 1);
  EXPECT_EQ(sum.low, 0x1p-80);
  EXPECT_EQ(DoubleDouble::sum(0x1p-80, 1).low, 0x1p-80);
  const DoubleDouble product = DoubleDouble::product(1 + 0x1p-40, 1 - 0x1p-40);
  EXPECT_EQ(product.high, 1);
  EXPECT_EQ(product.low, -0x1p-80);
}

TEST(DoubleDouble, KeepsWhatADoubleLoses) {
  DoubleDouble sum(1);
  for (int i = 0; i < 1000; ++i) sum += 0x1p-70;
  EXPECT_EQ(sum.high, 1);
  EXPECT_EQ(sum.low, 1000 * 0x1p-70);
  EXPECT_EQ(static_cast<double>(sum - 1), 1000 * 0x1p-70);
  EXPECT_EQ(static_cast<double>(3 * (sum - 1)), 3000 * 0x1p-70);
}

TEST(DoubleDouble, CancellationLeavesTheExactRest) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 1000; ++i) {
    const double a = uniform(rng), b = uniform(rng), c = uniform(rng);
    const DoubleDouble ab = DoubleDouble::product(a, b);
    const DoubleDouble all = (ab + c) - ab;
    EXPECT_LE(std::abs(static_cast<double>(all - c)), 0x1p-100);
    // Terms may be summed in any order.
    EXPECT_LE(std::abs(static_cast<double>((ab + c) - (c + ab))), 0);
    EXPECT_LE(std::abs(static_cast<double>(a * (ab + c) - (a * ab + a * DoubleDouble(c)))),
              0x1p-100);
  }
}

}  // namespace
}  // namespace stiction::math::double_double_test
