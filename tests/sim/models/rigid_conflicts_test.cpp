// Rigid models in scenes whose constraints conflict.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::rigid_conflicts_test {
namespace {

using contact::ContactModel;
using support::Scene;

const char* const kOption = R"(timestep="0.001")";

class RigidConflict : public testing::TestWithParam<ContactModel> {};

TEST_P(RigidConflict, SqueezedBodyGoesOnWithAWarning) {
  Scene scene(support::make_mjcf(kOption, R"(
    <worldbody>
      <geom name="left" type="box" size=".1 1 1" pos="-0.149 0 0"/>
      <geom name="right" type="box" size=".1 1 1" pos="0.149 0 0"/>
      <body><freejoint/><geom name="cube" type="box" size=".05 .05 .05" mass="1"/></body>
    </worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam()));
  const StepReport& report = stepper.step(scene.data);
  EXPECT_TRUE(report.ok()) << report.message;
  EXPECT_GE(report.num_warnings, 1);
  EXPECT_NE(report.warning.str().find("cannot be corrected"), std::string::npos) << report.warning;
  if (contact::traits(GetParam()).has_error_bound) {
    EXPECT_NE(report.warning.str().find("geom 'cube'"), std::string::npos) << report.warning;
  }
}

TEST_P(RigidConflict, ContradictoryEqualitiesGiveAWarning) {
  for (const double second : {0.1, -0.1}) {
    char equalities[300];
    std::snprintf(equalities, sizeof equalities, R"(
        <worldbody><body><joint name="j" type="slide"/><geom size="0.1"/></body></worldbody>
        <equality><joint joint1="j" polycoef="0.1 0 0 0 0"/>
          <joint joint1="j" polycoef="%g 0 0 0 0"/></equality>)",
                  second);
    Scene scene(support::make_mjcf(kOption, equalities));
    Stepper stepper(scene.model, make_options(GetParam()));
    run(&stepper, &scene, 3000);
    const std::string warning = stepper.step(scene.data).warning;
    EXPECT_EQ(warning.find("equality constraint of body 1") != std::string::npos, second < 0)
        << warning;
    EXPECT_NEAR(scene.data->qpos[0], 0.1, 1e-3);  // the first
  }
}

/// Returns a box of 0.2 m that is welded to a mocap body at its center.
std::string make_led_box(double height) {
  char text[400];
  std::snprintf(text, sizeof text, R"(
    <worldbody>
      <geom type="plane" size="0 0 1"/>
      <body name="hand" mocap="true" pos="0 0 %g"/>
      <body name="box" pos="0 0 %g"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    </worldbody>
    <equality><weld body1="hand" body2="box"/></equality>)",
                height, height);
  return support::make_mjcf(kOption, text);
}

/// Returns how far the box may sink [m]. Contacts of a model without gaps close before they act.
double find_slack(ContactModel model) {
  return contact::traits(model).gaps == contact::GapPolicy::kSpeculative ? 1e-6 : 1e-3;
}

// A ball falls on a seesaw whose end rests on the floor, so that contacts close by round-off only.
TEST_P(RigidConflict, ABallOnASeesawAtRestIsNoConflict) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(
    <worldbody>
      <geom type="plane" size="3 3 .1"/>
      <body pos="0 0 .06"><joint axis="0 1 0" damping=".02"/>
        <geom type="box" size=".1 .02 .01" mass=".2"/></body>
      <body pos=".06 0 .14"><freejoint/><geom type="sphere" size=".05" mass=".4"/></body>
    </worldbody>)"));
  const std::vector<mjtNum> start = scene.state();
  StepOptions options = make_options(GetParam());
  options.on_failure = OnFailure::stop;
  for (int run = 0; run < 12; ++run) {
    scene.set_state(start);
    Stepper stepper(scene.model, options);
    for (int i = 0; i < 7; ++i)
      scene.data->qvel[i] = (i < 4 ? 0.4 : 8) * std::sin(1.0 + 7 * run + i);
    ASSERT_NO_FATAL_FAILURE(sim::run(&stepper, &scene, 160)) << "run " << run;
  }
}

TEST_P(RigidConflict, ABoxLedIntoTheFloorStopsThereAndCanBeLedAway) {
  Scene scene(make_led_box(0.12));
  Stepper stepper(scene.model, make_options(GetParam()));
  for (int i = 0; i < 500; ++i) {
    scene.data->mocap_pos[2] = 0.12 - 2e-4 * std::min(i, 300);
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene)) << "step " << i;
    EXPECT_GE(scene.data->qpos[2], 0.1 - find_slack(GetParam()));
  }
  EXPECT_NEAR(scene.data->qpos[2], 0.1, 2e-3);
  EXPECT_NE(stepper.step(scene.data).warning.str().find("cannot be corrected"), std::string::npos);
  scene.data->mocap_pos[2] = 0.15;
  run(&stepper, &scene, 1500);
  EXPECT_NEAR(scene.data->qpos[2], 0.15, 1e-3);
}

TEST_P(RigidConflict, ABoxLedAlongTheFloorSlidesUnlessItSticks) {
  Scene scene(make_led_box(0.1));
  Stepper stepper(scene.model, make_options(GetParam()));
  scene.data->mocap_pos[2] = 0.09;
  for (int i = 0; i < 1000; ++i) {
    scene.data->mocap_pos[0] = 2e-5 * i;
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene)) << "step " << i;
  }
  const double* x = scene.data->qpos;
  EXPECT_NEAR(x[2], 0.1, find_slack(GetParam()));
  const bool sticks = contact::traits(GetParam()).tangents == contact::TangentPolicy::kBilateral;
  // The hand is 10 mm below the floor's surface. The weld knows the hand's velocity, so the box
  // does not lag behind.
  EXPECT_NEAR(x[0], sticks ? 0 : 0.02, 1e-4);
}

TEST_P(RigidConflict, AnEqualityDoesNotDriveAJointIntoItsLimit) {
  struct Case {
    double limit, target;
  };
  for (const Case c : {Case{0.5, -1}, Case{0, -1e-3}, Case{0, -1e-5}, Case{0, -1e-8}}) {
    char slide[300];
    std::snprintf(slide, sizeof slide, R"(
        <worldbody><body><joint name="j" type="slide" axis="1 0 0" limited="true" range="%g 1"/>
          <geom size="0.1"/></body></worldbody>
        <equality><joint joint1="j" polycoef="%g 0 0 0 0"/></equality>)",
                  c.limit, c.target);
    Scene scene(support::make_mjcf(kOption, slide));
    Stepper stepper(scene.model, make_options(GetParam()));
    run(&stepper, &scene, 100);
    EXPECT_GE(scene.data->qpos[0], -1e-7) << "limit " << c.limit << " target " << c.target;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RigidConflict, testing::ValuesIn(rigid_models()), model_name);

}  // namespace
}  // namespace stiction::sim::rigid_conflicts_test
