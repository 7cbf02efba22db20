#include "stiction/numerics/line_integral.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace stiction::numerics::line_integral_test {
namespace {

TEST(LineIntegral, IsExactForCubics) {
  const auto f = [](double x) { return 4 * x * x * x - 2 * x + 1; };
  EXPECT_NEAR(integrate(f, 0, 3, 1e-12), 81 - 9 + 3, 1e-12);
}

TEST(LineIntegral, MeetsItsToleranceForSmoothFunctions) {
  const double exact = std::exp(2.0) - 1;
  for (const double tolerance : {1e-3, 1e-6, 1e-9})
    EXPECT_NEAR(integrate([](double x) { return std::exp(x); }, 0, 2, tolerance), exact, tolerance);
}

TEST(LineIntegral, MeetsItsToleranceAtAKink) {
  const double kink = 1 / std::sqrt(3.0);
  const auto f = [&](double x) { return std::max(0.0, x - kink); };
  EXPECT_NEAR(integrate(f, 0, 1, 1e-10), 0.5 * (1 - kink) * (1 - kink), 1e-10);
}

TEST(LineIntegral, EndsAtAJump) {
  const auto f = [](double x) { return x < 0.3 ? 0.0 : 1.0; };
  EXPECT_NEAR(integrate(f, 0, 1, 1e-12), 0.7, 1e-5);
}

}  // namespace
}  // namespace stiction::numerics::line_integral_test
