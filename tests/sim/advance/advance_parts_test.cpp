// The parts of error control: the choice of steps, and the norm of errors.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sim/advance/advance_scenes.hpp"
#include "stiction/sim/advance/control.hpp"

namespace stiction::sim::advance_parts_test {
namespace {

using support::Scene;

TEST(AdvanceControl, LeavesNoSliver) {
  AdvanceControl control;
  control.start(0.3, 1);
  EXPECT_EQ(control.choose(0.2, 1), 0.2);
  EXPECT_EQ(control.choose(0.3, 1), 0.3);
  EXPECT_EQ(control.choose(0.3 * (1 + 1e-12), 1), 0.3 * (1 + 1e-12));
  EXPECT_EQ(control.choose(0.31, 1), 0.155);
  EXPECT_EQ(control.choose(0.7, 1), 0.3);
  EXPECT_EQ(control.choose(0.7, 0.1), 0.1);
}

TEST(AdvanceControl, GrowsAndShrinksWithinLimits) {
  AdvanceControl control;
  control.start(1e-3, 1);
  control.accept(1e-3, 0);  // counts as the least error
  EXPECT_DOUBLE_EQ(control.next_step(), 4e-3);
  control.reject(4e-3, 1e9);
  EXPECT_DOUBLE_EQ(control.next_step(), 0.2 * 4e-3);
  control.reject(4e-3, 1.0001);
  EXPECT_NEAR(control.next_step(), 0.9 * 4e-3, 1e-6);
  for (const double error :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    control.reject(4e-3, error);
    EXPECT_DOUBLE_EQ(control.next_step(), 0.2 * 4e-3);
  }
  control.fail(4e-3);
  EXPECT_DOUBLE_EQ(control.next_step(), 1e-3);
  // Never below the least step, unless less time is left.
  control.start(1e-12, 1);
  EXPECT_EQ(control.choose(1, 1), AdvanceControl::kLeastStep);
  EXPECT_EQ(control.choose(1e-9, 1), 1e-9);
}

/// A step that the end of a call cuts short keeps the length that was planned.
TEST(AdvanceControl, RemembersALengthThatWasCutShort) {
  AdvanceControl control;
  control.start(0.05, 1);
  control.accept(0.01, 0.01);
  EXPECT_EQ(control.next_step(), 0.05);
  control.start(0.05, 1);
  control.accept(0.01, 1);  // an error that would let the length shrink
  EXPECT_NEAR(control.next_step(), 0.009, 1e-12);
}

TEST(AdvanceNorm, LeversAreLargestDistances) {
  const Scene scene(support::make_mjcf("", R"(<worldbody>
    <body pos="0 0 5"><joint axis="0 1 0"/><geom size="0.1" pos="1 0 0"/>
      <body pos="2 0 0"><joint type="slide" axis="1 0 0" limited="true" range="-0.2 0.3"/>
        <geom size="0.5"/></body></body>
    <body pos="9 0 0"><freejoint/><geom type="capsule" size="0.1" fromto="-1 0 0 1 0 0"/></body>
    <body pos="0 9 0"><joint type="ball"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    </body></worldbody>)"));
  AdvanceNorm norm;
  norm.start(scene.model);
  const auto w = norm.levers();
  EXPECT_NEAR(w[0], 2 + 0.3 + 0.5, 1e-12);  // the hinge carries the slide's ball
  EXPECT_EQ(w[1], 1);
  for (int i = 2; i < 5; ++i) EXPECT_EQ(w[i], 1);
  for (int i = 5; i < 8; ++i) EXPECT_NEAR(w[i], 1.1, 1e-12);
  for (int i = 8; i < 11; ++i) EXPECT_EQ(w[i], 1e-3);
}

TEST(AdvanceNorm, NaNIsAnError) {
  const Scene scene(make_pendulum());
  AdvanceNorm norm;
  norm.start(scene.model);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 2; ++i) {
    double dq[2] = {0.1, 0.1};
    dq[i] = nan;
    EXPECT_TRUE(std::isnan(norm.calc(scene.model, dq, {}, {}))) << i;
  }
}

}  // namespace
}  // namespace stiction::sim::advance_parts_test
