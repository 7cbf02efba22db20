// Error-controlled time steps: accuracy, events, creep, forces, and the end of a call.
#include "stiction/sim/advance/advance.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "sim/advance/advance_scenes.hpp"

namespace stiction::sim::advance_test {
namespace {

using contact::ContactModel;
using support::Scene;

class Advances : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, Advances, testing::ValuesIn(make_advance_models()), model_name);

TEST_P(Advances, EndsAtTheTimeExactly) {
  Scene scene(make_ball_mjcf(0.3));
  Stepper stepper(scene.model, make_options(GetParam()));
  // Sums of these durations round.
  for (const double until : {0.1, 0.1 + 1e-7, 0.3, 1.0 / 3, 0.7}) {
    advance(&stepper, &scene, until);
    EXPECT_EQ(scene.data->time, until);
  }
  EXPECT_EQ(advance(&stepper, &scene, 0.7).advance.num_steps, 0);
}

TEST_P(Advances, MeetsTheAccuracyInEachStep) {
  for (const double accuracy : {1e-2, 1e-4, 1e-6}) {
    Scene scene(make_small_pile());
    Stepper stepper(scene.model, make_options(GetParam()));
    double sum = 0;
    for (int k = 1; k <= 20; ++k) {
      const AdvanceReport report = advance(&stepper, &scene, 0.02 * k, accuracy).advance;
      EXPECT_TRUE(report.accuracy_reached());
      EXPECT_LE(report.largest_error, accuracy);
      EXPECT_LE(report.largest_error, report.sum_of_errors * (1 + 1e-12));
      EXPECT_LE(report.sum_of_errors, report.num_steps * report.largest_error * (1 + 1e-12));
      EXPECT_LE(report.smallest_step, report.largest_step);
      EXPECT_LE(report.largest_step, 0.02 * (1 + 1e-12));
      sum += report.num_steps * report.smallest_step;
    }
    EXPECT_LE(sum, 0.4 * (1 + 1e-12));
  }
}

/// The law of the slip tolerance: a contact that carries the share rho of its bound creeps at v_s
/// rho / sqrt(1 - rho^2). The error of the creep was measured below 1e-5 at every accuracy.
TEST_P(Advances, CreepsByTheSlipToleranceAtEveryAccuracy) {
  if (GetParam() == ContactModel::tamsi) GTEST_SKIP() << "tamsi has another regularization";
  const double law = 1e-4 * 0.5 / std::sqrt(1 - 0.25);
  for (const double accuracy : {1e-1, 1e-3, 1e-5, 1e-7}) {
    Scene scene(make_incline());
    Stepper stepper(scene.model, make_options(GetParam()));
    advance(&stepper, &scene, 1, accuracy);
    const double start = scene.data->qpos[0];
    advance(&stepper, &scene, 3, accuracy);
    EXPECT_NEAR((scene.data->qpos[0] - start) / 2, law, 0.01 * law) << accuracy;
  }
}

/// An extrapolated landing would throw the ball up as fast as it came, at 2 m/s. The spring of the
/// contact throws it up at less than 1 / d = 0.1 m/s.
TEST_P(Advances, LandingIsNotExtrapolated) {
  for (const double accuracy : {1e-2, 1e-3, 1e-4, 1e-5}) {
    Scene scene(make_ball_mjcf(0.3));
    Stepper stepper(scene.model, make_options(GetParam()));
    int num_not_extrapolated = 0;
    for (int k = 1; k <= 100; ++k) {
      const StepReport& report = advance(&stepper, &scene, 0.005 * k, accuracy);
      num_not_extrapolated += report.advance.num_not_extrapolated;
      EXPECT_LT(scene.data->qvel[2], 0.1) << accuracy << " at " << report.time;
    }
    EXPECT_GT(num_not_extrapolated, 0);
  }
}

TEST(Advance, ImpactOfTenMetresPerSecondNeedsNoLeastStep) {
  for (const double accuracy : {1e-3, 1e-6, 1e-8}) {
    Scene scene(make_ball_mjcf(0.3));
    scene.data->qvel[2] = -10;
    Stepper stepper(scene.model, with_tolerance(1e-5));
    const AdvanceReport report = advance(&stepper, &scene, 0.1, accuracy).advance;
    EXPECT_TRUE(report.accuracy_reached()) << accuracy;
    EXPECT_NEAR(scene.data->qpos[2], 0.1, 1e-4);
  }
}

/// Semi-implicit Euler has the error of g h T / 2 in a fall, of one order in h only, so that
/// extrapolation is exact.
TEST(Advance, ExtrapolationIsExactInAFall) {
  Scene scene(make_ball_mjcf(30));
  Stepper stepper(scene.model, with_tolerance(1e-10));
  advance(&stepper, &scene, 2, 1e-2);
  EXPECT_NEAR(scene.data->qpos[2], 30 - 0.5 * kGravity * 4, 1e-11);
  EXPECT_NEAR(scene.data->qvel[2], -2 * kGravity, 1e-11);
}

/// Returns the error of a double pendulum.
double calc_pendulum_error(const AdvanceOptions& options) {
  const auto run = [](const AdvanceOptions& given) {
    Scene scene(make_pendulum());
    Stepper stepper(scene.model, with_tolerance(1e-10));
    EXPECT_TRUE(stepper.advance(scene.data, given).ok());
    return std::vector<mjtNum>(scene.data->qpos, scene.data->qpos + 2);
  };
  const auto q = run(options), exact = run({.until = options.until, .accuracy = 1e-9});
  return std::hypot(q[0] - exact[0], q[1] - exact[1]);
}

/// The length of the step is proportional to the root of the accuracy, and the error to h^2 with
/// extrapolation and to h without.
TEST(Advance, ErrorsFallWithTheAccuracy) {
  const double coarse = calc_pendulum_error({.until = 0.3, .accuracy = 1e-4});
  const double fine = calc_pendulum_error({.until = 0.3, .accuracy = 1e-6});
  EXPECT_NEAR(std::log10(coarse / fine) / 2, 1, 0.1);
  const double plain_coarse =
      calc_pendulum_error({.until = 0.3, .accuracy = 1e-4, .extrapolate = false});
  const double plain_fine =
      calc_pendulum_error({.until = 0.3, .accuracy = 1e-6, .extrapolate = false});
  EXPECT_NEAR(std::log10(plain_coarse / plain_fine) / 2, 0.5, 0.1);
  EXPECT_LT(fine, 0.1 * plain_fine);
}

/// A plate that two fingers carry around an axis moves along chords in fixed steps, and drifts
/// outwards by omega^2 r h / 2.
TEST(Advance, HeldPlateDoesNotDriftAlongChords) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(<worldbody>
    <body><joint name="turn" axis="0 0 1" armature="1"/>
      <geom size="0.01" contype="0" conaffinity="0"/>
      <body pos="0.06 0 0.02"><joint name="up" type="slide" axis="0 0 1"/>
        <geom type="box" size="0.02 0.02 0.01" mass="0.1"/></body>
      <body pos="0.06 0 -0.02"><joint name="down" type="slide" axis="0 0 1"/>
        <geom type="box" size="0.02 0.02 0.01" mass="0.1"/></body></body>
    <body pos="0.06 0 0"><freejoint/><geom type="box" size="0.02 0.02 0.01" mass="0.05"/></body>
    </worldbody><actuator><motor joint="up" gear="-1"/><motor joint="down"/>
    <velocity joint="turn" kv="100"/></actuator>)"));
  mjData* d = scene.data;
  d->ctrl[0] = d->ctrl[1] = 20;
  d->ctrl[2] = d->qvel[0] = d->qvel[8] = 4;
  d->qvel[4] = 0.24;
  Stepper stepper(scene.model, with_tolerance(1e-5));
  const auto calc_radius = [d] { return std::hypot(d->qpos[3], d->qpos[4]); };
  advance(&stepper, &scene, 0.1, 1e-5);
  const double start = calc_radius();
  for (int k = 1; k <= 20; ++k) advance(&stepper, &scene, 0.1 + 0.02 * k, 1e-5);
  const double drift = (calc_radius() - start) / 0.4;
  EXPECT_LT(std::abs(drift), 1e-6);  // measured 2.5e-7 m/s
  run(&stepper, &scene, 200);
  const double fixed = (calc_radius() - start) / 0.4;
  EXPECT_NEAR(fixed, 16 * 0.06 * 0.002 / 2, 0.05 * fixed);
}

/// The forces of a call are averages, so that their impulse is the change of momentum.
TEST_P(Advances, ForcesAreAveragesOfTheCall) {
  Scene scene(make_ball_mjcf(0.15));
  scene.data->qvel[2] = -1;
  Stepper stepper(scene.model, make_options(GetParam(), 1e-8));
  for (int k = 0; k < 8; ++k) {
    const double before = scene.data->qvel[2];
    const StepReport& report = stepper.advance(
        scene.data, {.until = 0.03 * (k + 1), .accuracy = 1e-5, .extrapolate = false});
    ASSERT_TRUE(report.ok());
    const double change = scene.data->qvel[2] - before + 0.03 * kGravity;
    const std::vector<double>& impulses = report.contacts.normal_impulse;
    const double impulse = std::accumulate(impulses.begin(), impulses.end(), 0.0);
    EXPECT_NEAR(impulse, change, 1e-6);
    EXPECT_NEAR(report.contacts.time_step, 0.03, 1e-12);
    EXPECT_NEAR(scene.data->sensordata[0] * 0.03, change, 1e-6);
    EXPECT_NEAR(scene.data->qfrc_constraint[2] * 0.03, change, 1e-6);
    mjtNum wrench[6] = {};
    if (scene.data->ncon > 0) mj_contactForce(scene.model, scene.data, 0, wrench);
    if (scene.data->nefc > 0) {
      EXPECT_NEAR(wrench[0] * 0.03, change, 1e-6);
    }
    EXPECT_NEAR(scene.data->qacc[2] * 0.03, change - 0.03 * kGravity, 1e-12);
  }
}

TEST(Advance, SensorsOfPositionAreThoseOfTheEnd) {
  Scene scene(support::make_mjcf("", R"(<worldbody><body><joint name="hinge" axis="0 1 0"/>
    <geom size="0.1" pos="0.5 0 0"/><site name="tip" pos="0.5 0 0"/></body></worldbody>
    <sensor><jointpos joint="hinge"/><jointvel joint="hinge"/><framepos objtype="site" objname="tip"/>
    </sensor>)"));
  Stepper stepper(scene.model, {});
  advance(&stepper, &scene, 0.3);
  const mjData* d = scene.data;
  EXPECT_EQ(d->sensordata[0], d->qpos[0]);
  EXPECT_EQ(d->sensordata[1], d->qvel[0]);
  EXPECT_NEAR(d->sensordata[2], 0.5 * std::cos(d->qpos[0]), 1e-12);
}

/// An integrating actuator without dynamics of bodies: its activation is a part of the error and of
/// the extrapolated state.
TEST(Advance, ActivationsAreControlled) {
  Scene scene(support::make_mjcf(R"(gravity="0 0 0")", R"(<worldbody><body>
    <joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1e6"/></body></worldbody>
    <actuator><general joint="x" dyntype="filter" dynprm="0.1" gainprm="1"/></actuator>)"));
  scene.data->ctrl[0] = 1;
  Stepper stepper(scene.model, {});
  const AdvanceReport report = advance(&stepper, &scene, 0.5, 1e-4).advance;
  // Explicit Euler of the activation: e = h^2 / (4 tau^2) times the extent, about 1 m.
  EXPECT_LT(report.largest_step, 0.05);
  EXPECT_NEAR(scene.data->act[0], 1 - std::exp(-5.0), 1e-3);
}

TEST(Advance, MaxTimeStepAndFirstStepAreKept) {
  Scene scene(make_ball_mjcf(0.5));
  Stepper stepper(scene.model, {});
  const AdvanceReport report =
      stepper
          .advance(scene.data,
                   {.until = 0.1, .accuracy = 1e-1, .max_time_step = 3e-3, .first_step = 1e-4})
          .advance;
  EXPECT_EQ(report.first_step, 1e-4);
  EXPECT_LE(report.smallest_step, 1e-4);
  EXPECT_LE(report.largest_step, 3e-3);
  EXPECT_GT(report.largest_step, 2.9e-3);
}

}  // namespace
}  // namespace stiction::sim::advance_test
