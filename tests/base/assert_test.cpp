#include "stiction/base/assert.hpp"

#include <gtest/gtest.h>

namespace stiction::base::assert_test {
namespace {

// Assertions are checked by the presets with sanitizers only.
#if defined(__has_feature) && defined(NDEBUG)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#error "Builds with sanitizers need assertions: do not define NDEBUG"
#endif
#endif

TEST(Assert, PassesWhenTheConditionHolds) {
  int evaluations = 0;
  STICTION_ASSERT(++evaluations > 0);
#ifdef NDEBUG
  EXPECT_EQ(evaluations, 0);
#else
  EXPECT_EQ(evaluations, 1);
#endif
}

#ifndef NDEBUG
TEST(AssertDeathTest, NamesTheConditionAndItsPlace) {
  const int index = 3, size = 3;
  EXPECT_DEATH(STICTION_ASSERT(index < size), "assert_test.cpp:[0-9]+: .*index < size");
}
#endif

TEST(Assert, IsAnExpression) {
  const auto half = [](int x) { return STICTION_ASSERT(x % 2 == 0), x / 2; };
  EXPECT_EQ(half(6), 3);
}

}  // namespace
}  // namespace stiction::base::assert_test
