// Bodies that start inside each other part at a bounded speed, and nothing else changes.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "stiction/contact/contact_model.hpp"
#include "stiction/sim/stepper.hpp"
#include "support/scene.hpp"

namespace stiction::sim::overlap_test {
namespace {

using contact::ContactModel;
using contact::NormalLawKind;
using support::Scene;

/// A compliant model with a law.
struct Law {
  ContactModel model;
  NormalLawKind law = NormalLawKind::hunt_crossley;
};
void PrintTo(const Law& law, std::ostream* out) {
  *out << contact::traits(law.model).name << "_" << contact::traits(law.law).name;
}

constexpr Law kLaws[] = {
    {ContactModel::lagged},
    {ContactModel::lagged, NormalLawKind::hertz},
    {ContactModel::lagged, NormalLawKind::linear},
    {ContactModel::lagged_regularized},
    {ContactModel::coulomb},
    {ContactModel::coulomb, NormalLawKind::linear},
    {ContactModel::similar},
    {ContactModel::tamsi},
    {ContactModel::sap},
};

class Overlap : public testing::TestWithParam<Law> {
 protected:
  static StepOptions make_options(bool corrects) {
    StepOptions options;
    options.contact_model = GetParam().model;
    options.parameters.normal_law = GetParam().law;
    if (!corrects) options.parameters.max_correction_speed = 0;
    return options;
  }
};

std::string make_box(double dt, double depth, const char* geom) {
  return support::make_mjcf("timestep='" + std::to_string(dt) + "'",
                            "<worldbody><geom type='plane' size='2 2 .1'/><body pos='0 0 " +
                                std::to_string(0.05 - depth) + "'><freejoint/><geom " + geom +
                                " mass='1'/></body></worldbody>");
}

constexpr double kMaxSpeed = 0.1;  // the default of max_correction_speed [m/s]

TEST_P(Overlap, ShrinksAtTheSpeedGivenAndThrowsNothing) {
  for (const char* geom : {"type='box' size='.05 .05 .05'", "type='sphere' size='.05'"})
    for (const double dt : {0.002, 0.01})
      for (const double depth : {0.001, 0.005, 0.02, 0.04}) {
        Scene scene(make_box(dt, depth, geom));
        Stepper stepper(scene.model, make_options(true));
        double gone = -1, fastest = 0, highest = -1;
        for (int i = 0; i < std::lround(2 / dt); ++i) {
          const StepReport& report = stepper.step(scene.data);
          ASSERT_TRUE(report.ok()) << report.message;
          fastest = std::max(fastest, scene.data->qvel[2]);
          highest = std::max(highest, scene.data->qpos[2] - 0.05);
          if (gone < 0 && scene.data->qpos[2] > 0.05 - 2e-4) gone = scene.data->time;
        }
        const std::string text =
            std::string(geom) + ", dt " + std::to_string(dt) + ", depth " + std::to_string(depth);
        EXPECT_LE(fastest, kMaxSpeed * 1.001) << text;
        // It rises no higher than a body thrown at this speed.
        EXPECT_LE(highest, kMaxSpeed * kMaxSpeed / (2 * 9.81) + dt * kMaxSpeed) << text;
        EXPECT_GE(gone, 0) << text;
        // The last part, below dt / (gamma d), has the speed 1 / d of the law.
        EXPECT_LE(gone, depth / kMaxSpeed + 0.1 + 20 * dt) << text;
        EXPECT_LE(std::abs(scene.data->qvel[2]), 1e-3) << text;
      }
}

TEST_P(Overlap, PartsInTimeWhileTheBodyMovesAlong) {
  for (const double speed : {-0.5, 0.0, 0.5}) {
    Scene scene(make_box(0.002, 0.02, "type='box' size='.05 .05 .05'"));
    scene.data->qvel[0] = 0.3;
    scene.data->qvel[2] = speed;
    Stepper stepper(scene.model, make_options(true));
    double height = 0;
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(stepper.step(scene.data).ok());
      height = std::max(height, scene.data->qpos[2] - 0.05);
    }
    EXPECT_GT(scene.data->qpos[2], 0.05 - 5e-4) << speed;
    // A body that moves up flies on, and is not made faster.
    const double up = std::max(speed, kMaxSpeed);
    EXPECT_LE(height, up * up / (2 * 9.81)) << speed;
  }
}

/// Landing, sliding, tumbling and rest have the same bits with and without the correction.
TEST_P(Overlap, LeavesImpactsAndRestAlone) {
  for (const double dt : {0.002, 0.01}) {
    const std::string xml = support::make_mjcf("timestep='" + std::to_string(dt) + "'", R"(
<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.3" euler="20 30 0"><freejoint/><geom type="box" size=".05 .07 .03" mass="1"/></body>
<body pos="0 0.01 0.5"><freejoint/><geom type="sphere" size=".05" mass="0.1"/></body>
<body pos="1 0 0.0499"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
<body pos="1 0 0.1498"><freejoint/><geom type="box" size=".05 .05 .05" mass="5"/></body></worldbody>)");
    Scene with(xml), without(xml);
    with.data->qvel[2] = without.data->qvel[2] = -2;
    Stepper first(with.model, make_options(true)), second(without.model, make_options(false));
    for (int i = 0; i < std::lround(1.5 / dt); ++i) {
      ASSERT_TRUE(first.step(with.data).ok());
      ASSERT_TRUE(second.step(without.data).ok());
      ASSERT_EQ(with.state(), without.state()) << dt << ", step " << i;
    }
  }
}

/// Boxes and spheres that overlap each other and the floor come apart and settle.
TEST_P(Overlap, OfAPileSettles) {
  if (GetParam().model == ContactModel::tamsi) return;  // it does not solve piles
  std::string bodies;
  for (int i = 0; i < 8; ++i)
    bodies += "<body pos='" + std::to_string(0.02 * (i % 2)) + " " +
              std::to_string(0.015 * (i % 3)) + " " + std::to_string(0.03 + 0.08 * i) +
              "'><freejoint/><geom type='" + (i % 2 ? "sphere" : "box") +
              "' size='.05 .05 .05' mass='0.5'/></body>";
  Scene scene(support::make_mjcf(
      "timestep='0.005'", "<worldbody><geom type='plane' size='9 9 1'/>" + bodies +
                              "<geom type='box' size='.02 1 1' pos='.14 0 1'/><geom type='box' "
                              "size='.02 1 1' pos='-.12 0 1'/><geom type='box' size='1 .02 1' "
                              "pos='0 .16 1'/><geom type='box' size='1 .02 1' pos='0 -.13 1'/>"
                              "</worldbody>"));
  Stepper stepper(scene.model, make_options(true));
  double deepest = 0, fastest = 0;
  for (int i = 0; i < 600; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    deepest = 0;
    for (int c = 0; c < scene.data->ncon; ++c)
      deepest = std::max(deepest, -scene.data->contact[c].dist);
    for (int b = 0; b < 8; ++b) fastest = std::max(fastest, scene.data->qvel[6 * b + 2]);
  }
  EXPECT_LT(deepest, 2e-3);
  EXPECT_LT(fastest, 8 * kMaxSpeed);  // eight bodies, each pushed by the one below
}

INSTANTIATE_TEST_SUITE_P(Laws, Overlap, testing::ValuesIn(kLaws),
                         [](const auto& info) { return testing::PrintToString(info.param); });

}  // namespace
}  // namespace stiction::sim::overlap_test
