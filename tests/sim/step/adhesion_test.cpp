// Adhesion holds what it is strong enough to hold, whatever the overlap at the start.
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::adhesion_test {
namespace {

using support::Scene;

constexpr double kGravity = 9.81;

class Adhesion : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, Adhesion, testing::ValuesIn(compliant_models()), model_name);
INSTANTIATE_TEST_SUITE_P(RigidModels, Adhesion, testing::ValuesIn(rigid_models()), model_name);

/// Suction cups: a flat one, and one with four spherical pads. Each gets four contacts that are
/// symmetric about the box's center, so that an adhesion slightly above the weight does not tilt
/// it.
std::string make_cup_geoms(bool is_flat) {
  if (is_flat) return R"(<geom type="box" size="0.03 0.03 0.02"/>)";
  std::string pads;
  for (const char* place : {"0.02 0.02", "0.02 -0.02", "-0.02 0.02", "-0.02 -0.02"})
    pads += std::string(R"(<geom size="0.02" pos=")") + place + R"( 0"/>)";
  return pads;
}

/// Returns a box of 1 kg below a suction cup, which overlap.
Scene make_cup(double overlap, bool is_flat) {
  char place[30];
  std::snprintf(place, sizeof place, "0 0 %.9g", 0.03 + overlap);
  return Scene(support::make_mjcf(R"(timestep="0.002")",
                                  R"(<worldbody><body name="cup" pos="0 0 0.1">)" +
                                      make_cup_geoms(is_flat) + R"(</body><body name="box" pos=")" +
                                      place + R"("><freejoint/>
<geom type="box" size="0.05 0.05 0.05" mass="1"/></body></worldbody>
<actuator><adhesion body="cup" ctrlrange="0 1000" gain="1"/></actuator>)"));
}

/// Returns how far the box is from the cup after a second [m].
double hang(contact::ContactModel model, double overlap, double force, bool is_flat) {
  Scene scene = make_cup(overlap, is_flat);
  scene.data->ctrl[0] = force;
  Stepper stepper(scene.model, make_options(model));
  run(&stepper, &scene, 500);
  return 0.03 - scene.data->qpos[2];
}

TEST_P(Adhesion, HoldsABoxThatOverlapsByAnyDepth) {
  for (const bool is_flat : {false, true})
    for (const double overlap : {0.0, 1e-5, 1e-4, 1e-3})
      for (const double factor : {1.02, 1.5, 10.0})
        EXPECT_LT(hang(GetParam(), overlap, factor * kGravity, is_flat), 1e-5)
            << "overlap " << overlap << ", factor " << factor << ", flat " << is_flat;
}

TEST_P(Adhesion, LetsABoxThatIsTooHeavyGo) {
  for (const bool is_flat : {false, true})
    for (const double overlap : {0.0, 1e-5, 1e-4, 1e-3})
      EXPECT_GT(hang(GetParam(), overlap, 0.98 * kGravity, is_flat), 0.05)
          << "overlap " << overlap << ", flat " << is_flat;
}

/// MuJoCo's own test of the threshold: four spheres that overlap a box by 10 um, with 1.01 times
/// its weight.
TEST_P(Adhesion, HoldsOnePercentMoreThanTheWeight) {
  for (const double factor : {1.01, 0.99}) {
    std::string spheres;
    for (const char* place : {"0.01 0.01", "0.01 -0.01", "-0.01 0.01", "-0.01 -0.01"})
      spheres += std::string(R"(<geom size="0.02001" pos=")") + place + R"( 0.07"/>)";
    Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 -1")", R"(
<worldbody><body name="static">)" + spheres + R"(</body>
<body name="free"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body></worldbody>
<actuator><adhesion body="free" ctrlrange="0 100"/></actuator>)"));
    scene.data->ctrl[0] = factor;
    Stepper stepper(scene.model, make_options(GetParam()));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 1000));
    if (factor > 1)
      EXPECT_GT(scene.data->qpos[2], -1e-4);
    else
      EXPECT_LT(scene.data->qpos[2], -1e-2);
  }
}

/// The adhesion of geoms has a force for each contact.
TEST_P(Adhesion, OfGeomsHoldsABox) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(
<worldbody><geom type="box" size="0.1 0.1 0.1" pos="0 0 0.2"/>
<body pos="0 0 0.0501"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1" adhesion="2.6"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam()));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 500));
  EXPECT_NEAR(scene.data->qpos[2], 0.05, 1e-3);
}

/// Without adhesion an actuator changes nothing.
TEST_P(Adhesion, OfNoForceChangesNothing) {
  for (const double overlap : {1e-5, 1e-3}) {
    Scene scene = make_cup(overlap, true), without = make_cup(overlap, true);
    without->opt.disableactuator = 1;  // group 0
    Stepper stepper(scene.model, make_options(GetParam()));
    Stepper other(without.model, make_options(GetParam()));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 20));
    ASSERT_NO_FATAL_FAILURE(run(&other, &without, 20));
    EXPECT_EQ(scene.state(), without.state());
  }
}

}  // namespace
}  // namespace stiction::sim::adhesion_test
