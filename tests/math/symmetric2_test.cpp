#include "stiction/math/symmetric2.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace stiction::math::symmetric2_test {
namespace {

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
}  // namespace stiction::math::symmetric2_test
