#include "stiction/plant/mujoco/mujoco_guard.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace stiction::plant::mujoco_guard_test {
namespace {

TEST(MuJoCoGuard, ReturnsFromAnError) {
  MuJoCoGuard guard;
  EXPECT_FALSE(guard.run([] { mju_error("broken part %d", 7); }));
  EXPECT_STREQ(guard.error(), "broken part 7");
  EXPECT_TRUE(guard.run([] {}));
}

TEST(MuJoCoGuard, CountsWarnings) {
  MuJoCoGuard guard;
  EXPECT_TRUE(guard.run([] {
    mju_warning("first");
    mju_warning("second");
  }));
  EXPECT_EQ(guard.num_warnings(), 2);
  EXPECT_STREQ(guard.warning(), "second");
  EXPECT_STREQ(guard.error(), "");
}

TEST(MuJoCoGuard, NestedGuardRestoresTheOuterOne) {
  MuJoCoGuard outer;
  EXPECT_FALSE(outer.run([&] {
    {
      MuJoCoGuard inner;
      EXPECT_FALSE(inner.run([] { mju_error("inner"); }));
      EXPECT_STREQ(inner.error(), "inner");
    }
    mju_error("outer");
  }));
  EXPECT_STREQ(outer.error(), "outer");
}

TEST(MuJoCoGuard, CallsOfRunNest) {
  MuJoCoGuard guard;
  EXPECT_TRUE(guard.run([&] { EXPECT_FALSE(guard.run([] { mju_error("inside"); })); }));
  EXPECT_FALSE(guard.run([] { mju_error("after"); }));
  EXPECT_STREQ(guard.error(), "after");
}

TEST(MuJoCoGuard, IsPerThread) {
  MuJoCoGuard guard;
  std::thread other([] {
    MuJoCoGuard mine;
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(mine.run([] { mju_error("theirs"); }));
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(guard.run([] { mju_error("ours"); }));
    EXPECT_STREQ(guard.error(), "ours");
  }
  other.join();
}

}  // namespace
}  // namespace stiction::plant::mujoco_guard_test
