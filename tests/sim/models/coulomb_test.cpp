// `coulomb` in motion: impacts with slip. Under the other models an impulse of another time bounds
// the friction of the step.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::coulomb_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kGravity = 9.81;
constexpr double kMaxCoupling = 1e-3;

/// Takes steps until `end`, checks the coupling error of each, and calls after(report).
template <class Function>
void run_coupled(Stepper* stepper, Scene* scene, double end, Function&& after) {
  while (scene->data->time < end - 1e-9) {
    const StepReport& report = stepper->step(scene->data);
    ASSERT_TRUE(report.ok()) << report.message;
    ASSERT_LE(report.certificate.coupling_error, kMaxCoupling) << "time " << report.time;
    after(report);
  }
}

TEST(CoulombMotion, LandingCostsMuTimesTheNormalImpulseAtAnyDepth) {
  // The mass starts 2 mm deep, as without speculative contacts. `lagged` stops such a mass at once.
  for (const double dt : {0.01, 0.002, 0.0004}) {
    Scene scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"", R"(
<worldbody><geom type="plane" size="50 50 1" friction="0.5"/><body pos="0 0 0.098"><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1" friction="0.5"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(ContactModel::coulomb, 1e-8));
    scene.data->qvel[0] = 20;
    scene.data->qvel[1] = -1;
    run_coupled(&stepper, &scene, 0.1, [](const StepReport&) {});
    // Friction took mu times the vertical momentum that the floor gave to the mass.
    const double normal = scene.data->qvel[1] + 1 + kGravity * scene.data->time;
    EXPECT_NEAR(scene.data->qvel[0], 20 - 0.5 * normal, 2e-3 * normal) << "dt " << dt;
  }
}

/// A tilted box of 1 kg that lands on an edge while it slides. The edge sticks and does not
/// rebound.
struct TiltedBox {
  static constexpr double kHalf = 0.05, kTilt = 25 * std::numbers::pi / 180, kSpeed = 2,
                          kHeight = 0.1;

  /// The spin after the impact, from the balance of angular momentum about the edge.
  static double calc_spin() {
    const double z = kHalf * (std::sin(kTilt) + std::cos(kTilt));  // of the center above the edge
    const double x = kHalf * (std::sin(kTilt) - std::cos(kTilt));  // of the center beside the edge
    const double fall = std::sqrt(kSpeed * kSpeed + 2 * kGravity * (kHeight - z));
    return (z * kSpeed + x * fall) / (x * x + z * z + 2 * kHalf * kHalf / 3);
  }

  static Scene make(double dt) {
    Scene scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"", R"(
<worldbody><geom type="plane" size="5 5 .1" friction="0.8"/><body pos="0 0 0.1" euler="0 25 0"><freejoint/>
<geom type="box" size="0.05 0.05 0.05" mass="1" friction="0.8"/></body></worldbody>)"));
    scene.data->qvel[0] = kSpeed;
    scene.data->qvel[2] = -kSpeed;
    return scene;
  }
};

TEST(CoulombMotion, ImpactOfASlidingBoxGivesTheExactSpin) {
  // The first touch of the lagged models has no friction, so their spin has another sign.
  for (const ContactModel model :
       {ContactModel::coulomb, ContactModel::tamsi, ContactModel::rigid_coulomb})
    for (const double dt : {0.005, 0.002, 0.001, 0.0005, 0.0001}) {
      Scene scene = TiltedBox::make(dt);
      Stepper stepper(scene.model, make_options(model, 1e-8));
      // The impact takes some steps. Then the box turns in the air.
      while (scene.data->time < 0.04) ASSERT_TRUE(stepper.step(scene.data).ok());
      EXPECT_NEAR(scene.data->qvel[4], TiltedBox::calc_spin(), 0.2)
          << contact::traits(model).name << ", dt " << dt;
    }
}

TEST(CoulombMotion, TheDefaultModelIsCoulomb) {
  EXPECT_EQ(StepOptions{}.contact_model, ContactModel::coulomb);
}

TEST(CoulombMotion, CouplingErrorShowsThatLaggedFrictionMissesTheImpact) {
  for (const ContactModel model : {ContactModel::lagged, ContactModel::lagged_regularized}) {
    Scene scene = TiltedBox::make(0.002);
    Stepper stepper(scene.model, make_options(model, 1e-8));
    double at_impact = 0, before = 0;
    while (scene.data->time < 0.02) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok());
      double impulse = 0;
      for (const double n : report.contacts.normal_impulse) impulse += n;
      (impulse > 0 ? at_impact : before) =
          std::max(impulse > 0 ? at_impact : before, report.certificate.coupling_error);
    }
    EXPECT_GT(at_impact, 0.9) << contact::traits(model).name;
    EXPECT_EQ(before, 0);
  }
}

TEST(CoulombMotion, FallingSphereRollsAtTheExactTime) {
  // [castro2023] section IX.B: from any height, the sphere rolls at the time 2 U0 / (7 mu g) with
  // the speed 5/7 U0.
  for (const double dt : {0.002, 0.0004}) {
    Scene scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"", R"(
<worldbody><geom type="plane" size="9 9 1" friction="0.5"/><body pos="0 0 0.075"><freejoint/>
<geom size="0.025" mass="0.5" friction="0.5"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(ContactModel::coulomb, 1e-8),
                    make_materials(scene, {.law = {.stiffness = 2e7, .dissipation = 500}}));
    scene.data->qvel[0] = 2;
    double rolling_time = 0;
    run_coupled(&stepper, &scene, 0.2, [&](const StepReport& report) {
      const double slip = scene.data->qvel[0] - 0.025 * scene.data->qvel[4];
      if (rolling_time == 0 && std::abs(slip) < 1e-3) rolling_time = report.time;
    });
    EXPECT_NEAR(rolling_time, 2 * 2 / (7 * 0.5 * kGravity), 0.02 * 0.1165) << "dt " << dt;
    EXPECT_NEAR(scene.data->qvel[0], 5.0 / 7 * 2, 1e-3);
  }
}

TEST(CoulombMotion, RodJamsAndJumps) {
  // [castro2023] section IX.C: friction with mu = 2.3 throws a thin rod over its leading tip.
  // Drake's tamsi gives 668 N at 17 ms with this time step; `lagged` misses the peak, with 38 N.
  constexpr double kHalf = 0.245, kInertia = 0.3 * 0.25 / 12;
  char mjcf[1000];
  std::snprintf(mjcf, sizeof mjcf, R"(
<worldbody><geom type="plane" size="9 9 1" friction="2.3"/><body pos="0 0 %.17g"><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 -1 0" ref="0"/>
<inertial pos="0 0 0" mass="0.3" diaginertia="%.17g %.17g %.17g"/>
<geom size="0.005" pos="%g 0 0" friction="2.3"/><geom size="0.005" pos="-%g 0 0" friction="2.3"/></body></worldbody>)",
                kHalf / 2 + 0.005, kInertia, kInertia, kInertia, kHalf, kHalf);
  Scene scene(support::make_mjcf(R"(timestep="0.00064")", mjcf));
  Stepper stepper(scene.model, make_options(ContactModel::coulomb, 1e-8),
                  make_materials(scene, {.law = {.stiffness = 2e7, .dissipation = 0}}));
  scene.data->qpos[2] = -std::numbers::pi / 6;
  scene.data->qvel[0] = 10;
  double largest = 0, time = 0;
  run_coupled(&stepper, &scene, 0.08, [&](const StepReport& report) {
    double force = 0;
    for (const double impulse : report.contacts.normal_impulse) force += impulse / 0.00064;
    if (force > largest) largest = force, time = report.time;
  });
  EXPECT_NEAR(largest, 668, 20);
  EXPECT_NEAR(time, 0.017, 0.00064);
}

TEST(CoulombMotion, ModelsThatBoundFrictionByTheImpulseOfTheStepHaveNoCouplingError) {
  for (const ContactModel model : {ContactModel::sap, ContactModel::similar, ContactModel::tamsi}) {
    Scene scene(support::make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.0999"><freejoint/><geom size="0.1"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(model));
    EXPECT_EQ(stepper.step(scene.data).certificate.coupling_error, 0);
  }
}

}  // namespace
}  // namespace stiction::sim::coulomb_test
