// Compares the functions with those of the C library in long double, which have more digits. The
// bits themselves are in tests/contact_golden/hashes.txt.
#include "stiction/math/scalar_functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace stiction::math::scalar_functions_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr int kNumTrials = 20000;

/// Returns the error in units in the last place of the exact value.
double calc_error(double value, long double exact) {
  if (value == static_cast<double>(exact)) return 0;  // also infinities
  int exponent = 0;
  (void)std::frexp(static_cast<double>(exact), &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent - 53, -1074));
  return static_cast<double>(std::abs((value - exact) / unit));
}

/// Returns numbers of both signs, whose magnitudes are 2^low to 2^high.
class Numbers {
 public:
  Numbers(double low, double high) : exponent_(low, high) {}
  double draw() {
    const double size = std::exp2(exponent_(rng_));
    return rng_() % 2 ? size : -size;
  }

 private:
  std::mt19937_64 rng_{1};
  std::uniform_real_distribution<double> exponent_;
};

template <class F, class Exact>
void expect_accurate(Numbers numbers, double units, const F& f, const Exact& exact) {
  for (int i = 0; i < kNumTrials; ++i) {
    const double x = numbers.draw();
    ASSERT_LE(calc_error(f(x), exact(static_cast<long double>(x))), units) << x;
  }
}

using Long = long double;

// The limits are those of the header.
TEST(ScalarFunctions, AreAccurate) {
  constexpr double kUnits = 2.5;
  const auto size = [](auto x) { return x < 0 ? -x : x; };
  expect_accurate(
      {-60, 9.4}, kUnits, [](double x) { return exp(x); }, [](Long x) { return std::exp(x); });
  for (const double extent : {1.0, 1000.0})
    expect_accurate(
        {-extent, extent}, kUnits, [&](double x) { return log(size(x)); },
        [&](Long x) { return std::log(size(x)); });
  expect_accurate(
      {-60, -0.01}, kUnits, [](double x) { return log1p(x); },
      [](Long x) { return std::log1p(x); });
  expect_accurate(
      {-60, 60}, kUnits, [](double x) { return atan(x); }, [](Long x) { return std::atan(x); });
  expect_accurate(
      {-60, 10}, kUnits, [](double x) { return sin(x); }, [](Long x) { return std::sin(x); });
  expect_accurate(
      {-60, 10}, kUnits, [](double x) { return cos(x); }, [](Long x) { return std::cos(x); });
  expect_accurate(
      {-1020, 1023}, 1, [](double x) { return cbrt(x); }, [](Long x) { return std::cbrt(x); });
}

TEST(ScalarFunctions, OfTwoNumbersAreAccurate) {
  for (const double extent : {1.0, 30.0, 1021.0}) {
    Numbers numbers(-extent, extent);
    for (int i = 0; i < kNumTrials; ++i) {
      const double x = numbers.draw(), y = numbers.draw();
      ASSERT_LE(calc_error(hypot(x, y), std::hypot(Long{x}, Long{y})), 1) << x << ' ' << y;
      if (extent < 100) {
        ASSERT_LE(calc_error(atan2(y, x), std::atan2(Long{y}, Long{x})), 2.5) << y << ' ' << x;
      }
    }
  }
  EXPECT_EQ(hypot(3, 4), 5);
  EXPECT_EQ(hypot(2, 3, 6), 7);
  EXPECT_EQ(hypot(3e300, 4e300), 5e300);
  EXPECT_EQ(hypot(3 * kTiny, 4 * kTiny), 5 * kTiny);
}

/// Expects the same number with the same sign, or that both are not a number.
void expect_same(double value, double expected, double x, double y = 0) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(value)) << x << ' ' << y;
    return;
  }
  EXPECT_DOUBLE_EQ(value, expected) << x << ' ' << y;
  EXPECT_EQ(std::signbit(value), std::signbit(expected)) << x << ' ' << y;
}

TEST(ScalarFunctions, TreatSpecialNumbersAsC) {
  const double special[] = {0.0, -0.0, 1, -1, -2, kTiny, -kTiny, kInfinity, -kInfinity, kNan};
  for (const double x : special) {
    expect_same(exp(x), std::exp(x), x);
    expect_same(log(x), std::log(x), x);
    expect_same(log1p(x), std::log1p(x), x);
    expect_same(atan(x), std::atan(x), x);
    expect_same(sin(x), std::sin(x), x);
    expect_same(cos(x), std::cos(x), x);
    expect_same(cbrt(x), std::cbrt(x), x);
    for (const double y : special) {
      expect_same(atan2(y, x), std::atan2(y, x), y, x);
      expect_same(hypot(y, x), std::hypot(y, x), y, x);
    }
  }
  EXPECT_EQ(exp(710), kInfinity);
  EXPECT_EQ(exp(-746), 0);
  EXPECT_GT(exp(-745), 0);
  EXPECT_TRUE(std::isnan(sin(2 * kLargestAngle)));
}

}  // namespace
}  // namespace stiction::math::scalar_functions_test
