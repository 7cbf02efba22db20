// `coulomb` in motion: impacts with slip, where the other models' friction is bounded by another
// impulse than that of the step.
#include <cmath>

#include <gtest/gtest.h>

#include "sim/stepping.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kGravity = 9.81;
constexpr double kMaxCoupling = 1e-3;

/// Steps until `end`, each coupled; calls after(report).
template <class Function>
void run_coupled(Stepper* stepper, Scene* scene, double end, Function&& after) {
  while (scene->data->time < end - 1e-9) {
    const StepReport& report = stepper->step(scene->data);
    ASSERT_TRUE(report.ok()) << report.message;
    ASSERT_LE(report.certificate.coupling_error, kMaxCoupling) << "time " << report.time;
    after(report);
  }
}

TEST(CoulombMotion, LandingCostsMuTimesTheNormalImpulseHoweverDeep) {
  // Found 2 mm deep, as if nothing had been foreseen: lagged stops such a mass dead.
  for (const double dt : {0.01, 0.002, 0.0004}) {
    Scene scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"", R"(
<worldbody><geom type="plane" size="50 50 1" friction="0.5"/><body pos="0 0 0.098"><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1" friction="0.5"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(ContactModel::coulomb, 1e-8));
    scene.data->qvel[0] = 20;
    scene.data->qvel[1] = -1;
    run_coupled(&stepper, &scene, 0.1, [](const StepReport&) {});
    // All momentum that the floor gave, falls included, cost mu times itself.
    const double normal = scene.data->qvel[1] + 1 + kGravity * scene.data->time;
    EXPECT_NEAR(scene.data->qvel[0], 20 - 0.5 * normal, 2e-3 * normal) << "dt " << dt;
  }
}

TEST(CoulombMotion, FallingSphereRollsWhenItShould) {
  // [castro2023] section IX.B; rolls at 2 U0 / (7 mu g) with 5/7 U0, whatever it falls from.
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
  // [castro2023] section IX.C: a thin rod whose tip leads, mu = 2.3, where friction throws it over
  // its tip. Drake's tamsi at this step: 668 N at 17 ms; lagged misses it, with 38 N.
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
  scene.data->qpos[2] = -M_PI / 6;
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

TEST(CoulombMotion, OtherModelsHaveNoCouplingError) {
  for (const ContactModel model : convex_models()) {
    if (model == ContactModel::coulomb) continue;
    Scene scene(support::make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.0999"><freejoint/><geom size="0.1"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(model));
    EXPECT_EQ(stepper.step(scene.data).certificate.coupling_error, 0);
  }
}

}  // namespace
}  // namespace stiction::sim
