#include "stiction/math/elementary.hpp"

#include <gtest/gtest.h>

namespace stiction::math::elementary_test {
namespace {

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
}  // namespace stiction::math::elementary_test
