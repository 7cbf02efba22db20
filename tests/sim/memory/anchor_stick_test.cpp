// The friction law `elastic`: what sticks does not creep, and what must slide slides.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"

namespace stiction::sim::anchor_stick_test {
namespace {

using contact::ContactModel;
using support::Scene;

struct Incline {
  ContactModel model;
  double dt, stiffness;
};

class ElasticIncline : public testing::TestWithParam<Incline> {
 protected:
  Stepper make_stepper(const Scene& scene) const {
    return {scene.model, make_elastic(GetParam().model), make_stiff(scene, GetParam().stiffness)};
  }
};

TEST_P(ElasticIncline, BlockDoesNotCreepBelowTheCone) {
  for (const double share : {0.5, 0.99}) {
    Scene scene = make_incline(share, GetParam().dt);
    Stepper stepper = make_stepper(scene);
    run(&stepper, &scene, static_cast<int>(std::lround(1 / GetParam().dt)));
    EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 1)), 1e-10) << share;
  }
}

TEST_P(ElasticIncline, BlockSlidesBeyondTheConeAsCoulombSays) {
  const double angle = std::atan(0.5 * 1.01);
  Scene scene = make_incline(1.01, GetParam().dt);
  Stepper stepper = make_stepper(scene);
  run(&stepper, &scene, static_cast<int>(std::lround(0.5 / GetParam().dt)));
  const double v = scene.data->qvel[0], t = scene.data->time;
  run(&stepper, &scene, static_cast<int>(std::lround(0.5 / GetParam().dt)));
  const double exact = kGravity * (std::sin(angle) - 0.5 * std::cos(angle));
  EXPECT_NEAR((scene.data->qvel[0] - v) / (scene.data->time - t), exact, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, ElasticIncline,
                         testing::Values(Incline{ContactModel::lagged, 1e-3, 0},
                                         Incline{ContactModel::lagged, 1e-3, 1e7},
                                         Incline{ContactModel::lagged, 2e-3, 1e12},
                                         Incline{ContactModel::lagged_regularized, 2e-3, 1e7},
                                         Incline{ContactModel::coulomb, 1e-3, 0},
                                         Incline{ContactModel::coulomb, 1e-2, 1e10}));

/// Returns how fast the plate moves in the frame of the wrist [m/s].
double measure_plate_drift(double dt, double stiffness, const StepOptions& options) {
  Scene scene(make_wrist(dt));
  Stepper stepper(scene.model, options, make_stiff(scene, stiffness));
  const auto turn = [&](double time) {
    const int num = static_cast<int>(std::lround(time / dt));
    for (int i = 0; i < num; ++i) {
      drive_wrist(&scene);
      run(&stepper, &scene);
    }
  };
  turn(0.6);
  const std::array<mjtNum, 3> before = find_plate(scene);
  turn(0.5);
  const std::array<mjtNum, 3> after = find_plate(scene);
  return mju_dist3(before.data(), after.data()) / 0.5;
}

TEST(AnchorStick, APlateThatTurnsStaysInItsGrip) {
  for (const double dt : {2e-3, 5e-3, 1e-2}) {
    for (const double k : {0.0, 1e6, 1e10})
      EXPECT_LE(measure_plate_drift(dt, k, make_elastic()), 1e-12) << dt << " " << k;
    // Without anchors it drifts by omega^2 r dt / 2.
    const double chord = 16 * 0.06 * dt / 2;
    EXPECT_NEAR(measure_plate_drift(dt, 0, make_options(ContactModel::lagged)), chord,
                0.15 * chord);
  }
}

TEST(AnchorStick, AStackOfTenTiltedBoxesComesToRest) {
  std::string bodies;
  for (int i = 0; i < 10; ++i) {
    const std::string half = std::to_string(0.05 - 0.002 * i);
    bodies += "<body pos=\"0 0 " + std::to_string(0.05 + 0.1 * i) +
              "\"><freejoint/><geom type=\"box\" mass=\"1\" friction=\"0.8\" size=\"" + half + " " +
              half + " 0.05\"/></body>";
  }
  Scene scene(support::make_mjcf(
      tilt(0.04, 0.01),
      R"(<worldbody><geom type="plane" size="5 5 1" friction="0.8"/>)" + bodies + "</worldbody>"));
  Stepper stepper(scene.model, make_elastic(), make_stiff(scene, 1e7));
  run(&stepper, &scene, 400);
  for (const int box : {0, 9})
    EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 7 * box, 2)), 1e-11) << box;
}

TEST(AnchorStick, ResidualsStayFarBelowTheTolerance) {
  for (const double tolerance : {1e-3, 1e-5, 1e-8, 1e-10}) {
    Scene scene = make_incline(0.5, 2e-3);
    StepOptions options = make_elastic();
    options.tolerance = tolerance;
    Stepper stepper(scene.model, options, make_stiff(scene, 1e6));
    const double largest = std::max(1e-2 * tolerance, std::min(1e-9, tolerance));
    for (int i = 0; i < 500; ++i)
      ASSERT_LE(stepper.step(scene.data).statistics.residual, 1.01 * largest) << i;
  }
}

/// A ball of 1 kg on a plane, with torsional and rolling friction.
Scene make_ball(double angle) {
  return Scene(support::make_mjcf(
      tilt(angle, 2e-3),
      R"(<worldbody><geom type="plane" size="5 5 1" friction="0.5 0.01 0.004" condim="6"/>
<body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1" friction="0.5 0.01 0.004" condim="6"/></body>
</worldbody>)"));
}

TEST(AnchorStick, TorsionAndRollingStick) {
  for (const ContactModel model : support::models_with_anchors()) {
    StepOptions options = make_elastic(model);
    options.tolerance = 1e-9;  // residuals of 1e-5 keep the ball swinging by 1e-8 m
    // Half of the torsional friction holds a torque about the normal.
    Scene twisted = make_ball(0);
    twisted.data->xfrc_applied[6 + 5] = 0.5 * 0.01 * kGravity;
    Stepper twisting(twisted.model, options, make_stiff(twisted, 1e6));
    run(&twisting, &twisted, 3000);
    EXPECT_LE(std::abs(measure_speed(&twisting, &twisted, 6, 1)), 1e-9);  // half the angle [rad/s]
    EXPECT_GT(twisted.data->qpos[6], 1e-6);
    // Half of the rolling friction holds a ball on a slope.
    Scene tilted = make_ball(0.5 * 0.004 / 0.1);
    Stepper rolling(tilted.model, options, make_stiff(tilted, 1e6));
    run(&rolling, &tilted, 4000);
    EXPECT_LE(std::abs(measure_speed(&rolling, &tilted, 0, 1)), 1e-9);
    EXPECT_LE(std::abs(tilted.data->qpos[0]), 1e-4);
  }
}

}  // namespace
}  // namespace stiction::sim::anchor_stick_test
