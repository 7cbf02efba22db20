// The friction coefficients and mobilities of contacts in a report.
#include <cmath>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::report_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// A ball, a frictionless ball, and a mass on three slides, each overlapping the floor.
Scene make_scene() {
  return Scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
    <geom name="floor" type="plane" size="9 9 1" friction="0.2"/>
    <body pos="0 0 0.0999"><freejoint/><geom name="ball" size="0.1" mass="2" friction="0.6"/></body>
    <body pos="1 0 0.0999"><freejoint/>
      <geom name="glider" size="0.1" mass="2" condim="1" priority="1"/></body>
    <body pos="2 0 0.0999"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
      <joint type="slide" axis="0 0 1"/><geom name="mass" size="0.1" mass="4" friction="0.9"/></body>
    </worldbody>)"));
}

/// The contact of a geom with the floor.
int find_contact(const Scene& scene, const StepReport& report, const char* geom) {
  for (int i = 0; i < report.contacts.size(); ++i)
    for (int side = 0; side < 2; ++side)
      if (report.contacts.geoms[2 * i + side] == scene.geom(geom)) return i;
  ADD_FAILURE() << "no contact of " << geom;
  return 0;
}

class Report : public testing::TestWithParam<ContactModel> {};

TEST_P(Report, HoldsFrictionAndMobilityOfEachContact) {
  Scene scene = make_scene();
  Stepper stepper(scene.model, make_options(GetParam()));
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  ASSERT_EQ(report.contacts.size(), 3);
  const auto& friction = report.contacts.friction;
  const auto& w = report.contacts.delassus;

  const int ball = find_contact(scene, report, "ball");
  EXPECT_EQ(friction[ball], 0.6);  // MuJoCo takes the larger
  // A solid ball: 1/m along the normal, 1/m + r^2/I = 3.5/m along both tangents; |W|_F / 3.
  EXPECT_NEAR(w[ball], std::sqrt(1 + 2 * 3.5 * 3.5) / 2 / 3, 1e-3);

  EXPECT_EQ(friction[find_contact(scene, report, "glider")], 0);

  const int mass = find_contact(scene, report, "mass");
  EXPECT_EQ(friction[mass], 0.9);
  EXPECT_NEAR(w[mass], std::sqrt(3.0) / 4 / 3, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Models, Report, testing::ValuesIn(compliant_models()), model_name);

TEST(Report, HasFrictionButNoMobilityUnderMuJoCo) {
  Scene scene = make_scene();
  Stepper stepper(scene.model, make_options(ContactModel::mujoco));
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  ASSERT_EQ(report.contacts.size(), 3);
  EXPECT_EQ(report.contacts.friction[find_contact(scene, report, "ball")], 0.6);
  for (const double w : report.contacts.delassus) EXPECT_TRUE(std::isnan(w));
}

}  // namespace
}  // namespace stiction::sim::report_test
