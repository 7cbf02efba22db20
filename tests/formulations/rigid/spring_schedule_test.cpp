// The stiffness of springs from one proximal step to the next.
#include "stiction/formulations/rigid/spring_schedule.hpp"

#include <gtest/gtest.h>

namespace stiction::formulations::spring_schedule_test {
namespace {

TEST(SpringSchedule, StiffensUpToTheUsualStiffness) {
  SpringSchedule springs(30);
  double residual = 1;
  for (const double expected : {30.0, 900.0, 2e4, 2e4}) {
    EXPECT_EQ(springs.stiffness(), expected);
    springs.note_solved(residual *= 0.1);
    EXPECT_TRUE(springs.stiffen());
    EXPECT_FALSE(springs.is_slow());
  }
  EXPECT_TRUE(springs.is_usual());
}

TEST(SpringSchedule, TriesStifferSpringsWhereStepsAreSlow) {
  SpringSchedule springs(kUsualConeStiffness);
  int num_steps = 0;
  do {
    springs.note_solved(1);
    ASSERT_LT(++num_steps, kMaxProximalSteps);
  } while (springs.stiffen());
  EXPECT_TRUE(springs.is_slow());
  EXPECT_EQ(springs.stiffness(), kLargestConeStiffness);
}

TEST(SpringSchedule, GoesBackTowardsTheLastStepThatWasSolved) {
  SpringSchedule springs(30);
  springs.note_solved(1);
  ASSERT_TRUE(springs.stiffen());
  double last = springs.stiffness();
  ASSERT_TRUE(springs.soften());
  EXPECT_LT(springs.stiffness(), last);
  EXPECT_GT(springs.stiffness(), 30);
  // Steps that are not solved end the attempt; the stiffness falls below that of the solved step.
  int num_failures = 1;
  for (last = springs.stiffness(); springs.soften(); last = springs.stiffness()) {
    EXPECT_LT(springs.stiffness(), last);
    ASSERT_LE(++num_failures, kMaxFailedConeSteps);
  }
  EXPECT_EQ(num_failures, kMaxFailedConeSteps);
  EXPECT_LT(springs.stiffness(), 30);
}

TEST(SpringSchedule, GrowsFasterAgainAfterSofterStepsThatAreSolved) {
  SpringSchedule springs(30);
  springs.note_solved(1);
  ASSERT_TRUE(springs.stiffen());
  while (springs.stiffness() > 30) ASSERT_TRUE(springs.soften());
  const double before = springs.stiffness();
  springs.note_solved(0.1);
  ASSERT_TRUE(springs.stiffen());
  EXPECT_NEAR(springs.stiffness() / before, kLeastConeGrowth * kConeGrowthRecovery, 1e-12);
}

TEST(SpringSchedule, EndsIfTheFirstStepIsNotSolved) {
  SpringSchedule springs(30);
  EXPECT_FALSE(springs.has_solved());
  EXPECT_FALSE(springs.soften());
}

}  // namespace
}  // namespace stiction::formulations::spring_schedule_test
