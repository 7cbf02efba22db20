#include "stiction/base/work_limits.hpp"

#include <gtest/gtest.h>

namespace stiction::base::work_limits_test {
namespace {

TEST(WorkLimits, MemoryIsNotFilledAfterTheTime) {
  WorkLimits limits;
  limits.max_seconds = 0;
  limits.begin_call();
  limits.begin_step();
  const LimitedTask task(&limits, true);
  constexpr std::size_t kSize = std::size_t{1} << 25;
  for (auto* fill : {&resize_within_limits, &fill_zeros_within_limits}) {
    std::vector<double> values;
    EXPECT_THROW(fill(kSize, &values), WorkStopped);
    EXPECT_LT(values.size(), kSize / 100);
  }
}

TEST(WorkLimits, WithoutLimitsAVectorGetsItsSize) {
  std::vector<double> values = {1, 2};
  values.reserve(3);
  resize_within_limits(3, &values);
  EXPECT_EQ(values, (std::vector<double>{1, 2, 0}));
  fill_zeros_within_limits(2, &values);
  EXPECT_EQ(values, std::vector<double>(2));
  constexpr std::size_t kLarge = 1'000'003;
  values = {1};
  resize_within_limits(kLarge, &values);
  EXPECT_EQ(values, std::vector<double>(kLarge));
}

}  // namespace
}  // namespace stiction::base::work_limits_test
