// Steps that end where geoms touch: the integrator event_driven.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/event_scenes.hpp"
#include "stiction/sim/integrators/event_step.hpp"

namespace stiction::sim::events_test {
namespace {

using contact::ContactModel;
using support::make_mjcf;
using support::Scene;

class Events : public testing::TestWithParam<ContactModel> {
 protected:
  StepOptions options() const { return make_event_options(GetParam(), Integrator::event_driven); }
};
INSTANTIATE_TEST_SUITE_P(Models, Events, testing::ValuesIn(rigid_models()), model_name);

/// After n steps the ball is g dt^2 n (n + 1)/2 down; it lands within a step, and stays.
TEST_P(Events, BallLandsWhereItTouches) {
  const double dt = 1e-3, height = 0.2;
  Scene scene = make_ball(height, dt);
  Stepper stepper(scene.model, options());
  int num_steps = 0;
  while (kGravity * dt * dt * (num_steps + 1) * (num_steps + 2) / 2 < height) ++num_steps;
  run(&stepper, &scene, num_steps);
  EXPECT_NEAR(scene.data->qpos[2],
              0.1 + height - kGravity * dt * dt * num_steps * (num_steps + 1) / 2, 1e-12);
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_EQ(report.statistics.num_events, 1);
  EXPECT_EQ(report.statistics.num_parts, 2);
  EXPECT_NEAR(scene.data->qpos[2], 0.1 + kTouching / 2, kTouching / 2 + 1e-12);
  EXPECT_NEAR(scene.data->qvel[2], 0, 1e-12);
  EXPECT_NEAR(scene.data->time, (num_steps + 1) * dt, 1e-12);
  // The floor took the momentum of the fall, with the whole step's gravity.
  double impulse = 0;
  for (const double gamma : report.contacts.normal_impulse) impulse += gamma;
  EXPECT_NEAR(impulse, 2 * kGravity * dt * (num_steps + 1), 1e-9);
  run(&stepper, &scene, 500);
  EXPECT_NEAR(scene.data->qpos[2], 0.1, kTouching);
  EXPECT_EQ(stepper.step(scene.data).statistics.num_events, 0);
}

/// A box that falls flat lands on all corners; a tilted box lands on a corner or an edge first.
/// Then it comes to rest flat and never sinks into the floor.
TEST_P(Events, BoxLandsFlatOrByItsEdge) {
  for (const double tilt : {0.0, 1e-4, 10.0, 40.0}) {
    Scene scene(make_mjcf(
        with_step(1e-3),
        R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.3" euler="0 )" +
            std::to_string(tilt) +
            R"( 0"><freejoint/><geom type="box" size="0.1 0.1 0.05" friction="0.5"/></body></worldbody>)"));
    Stepper stepper(scene.model, options());
    double lowest = 0;
    for (int i = 0; i < 1500; ++i) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message << ", tilt " << tilt << " step " << i;
      for (const double distance : report.contacts.distance) lowest = std::min(lowest, distance);
    }
    // If a body turns by w dt in a step, linearized gaps have an error of w^2 dt^2 r / 2, about
    // 1e-5 m here. A model without gaps lets contacts close by up to 1 m/s in a step.
    const bool has_gaps = contact::traits(GetParam()).gaps == contact::GapPolicy::kSpeculative;
    EXPECT_GT(lowest, has_gaps ? -1e-4 : -1e-3) << tilt;
    EXPECT_NEAR(scene.data->qpos[2], 0.05, 1e-4) << tilt;
    EXPECT_LT(mju_norm(scene.data->qvel, 6), 1e-6) << tilt;
  }
}

TEST_P(Events, FastBodiesDoNotTunnel) {
  Scene scene(make_mjcf(with_step(1e-2), R"(<worldbody><geom type="box" size="1 1 0.005"/>
<body pos="0 0 2"><freejoint/><geom size="0.01"/></body></worldbody>)"));
  scene.data->qvel[2] = -250;  // 2.5 m a step, through a plate of 1 cm
  Stepper stepper(scene.model, options());
  run(&stepper, &scene, 2);
  EXPECT_NEAR(scene.data->qpos[2], 0.015, 2 * kTouching);
}

/// Both integrators agree in the limit of small steps. The heights vary the time of landing within
/// a step.
TEST_P(Events, AgreeWithEulerInTheLimitOfSmallSteps) {
  const auto end_of = [&](Integrator integrator, double height, double dt) {
    Scene scene(make_mjcf(with_step(dt), R"(<worldbody><geom type="plane" size="9 9 1"/>
<body euler="0 20 0"><freejoint/><geom type="box" size="0.1 0.1 0.1" friction="0.3"/></body></worldbody>)"));
    scene.data->qpos[2] = height;
    scene.data->qvel[0] = 0.5;
    Stepper stepper(scene.model, make_event_options(GetParam(), integrator));
    run(&stepper, &scene, static_cast<int>(std::lround(0.15 / dt)));
    return std::vector<double>(scene.data->qpos, scene.data->qpos + 7);
  };
  const auto difference_at = [&](double dt) {
    double sum = 0;
    for (int i = 0; i < 8; ++i) {
      const double height = 0.19 + 0.0007 * i;
      const std::vector<double> one = end_of(Integrator::euler, height, dt),
                                divided = end_of(Integrator::event_driven, height, dt);
      for (std::size_t k = 0; k < one.size(); ++k) sum += std::abs(one[k] - divided[k]);
    }
    return sum;
  };
  const double coarse = difference_at(2e-3), fine = difference_at(1.25e-4);
  EXPECT_GT(coarse, 1e-4);
  EXPECT_LT(fine, coarse / 8) << "16 times smaller steps";
}

/// The rebound has e times the velocity of the touch, in the step of the touch.
TEST_P(Events, BallReboundsByItsRestitution) {
  const double dt = 1e-3;
  Scene scene = make_ball(0.2, dt);
  Stepper stepper(scene.model, options(), make_materials(scene, make_material(0, 0.5)));
  double before = 0;
  for (int i = 0; i < 1000 && scene.data->qvel[2] <= 0; ++i) {
    before = scene.data->qvel[2];
    run(&stepper, &scene);
  }
  EXPECT_NEAR(scene.data->qvel[2], -0.5 * (before - kGravity * dt), 1e-9);
  run(&stepper, &scene, 2000);
  EXPECT_NEAR(scene.data->qpos[2], 0.1, 2 * kTouching) << "the bounces have an end";
  EXPECT_NEAR(scene.data->qvel[2], 0, 1e-9);
}

/// A ball bounces between two close plates and loses 1 % of its speed at each touch. There is no
/// end of events, but a step has only a few.
TEST(EventStep, EndsIfEventsFollowEachOtherWithoutEnd) {
  Scene scene(make_mjcf(R"(timestep="0.01" gravity="0 0 0")",
                        R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.1000015"><joint type="slide" axis="0 0 1"/><geom size="0.1"/></body><geom type="box" pos="0 0 0.3000025" size="1 1 0.1"/></worldbody>)"));
  scene.data->qvel[0] = 30;
  Stepper stepper(scene.model, make_event_options(ContactModel::no_slip, Integrator::event_driven),
                  make_materials(scene, make_material(0, 0.99)));
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_LT(report.statistics.num_events, 20);
  EXPECT_NEAR(scene.data->time, 0.01, 1e-15);
  EXPECT_LT(std::abs(scene.data->qpos[0]), 1e-5);
}

TEST(EventStep, LeavesTheStateAsItWasIfItFails) {
  Scene scene = make_ball(1e-4);
  scene.data->qvel[2] = -5;
  Stepper stepper(scene.model, make_event_options(ContactModel::no_slip, Integrator::event_driven));
  const std::vector<mjtNum> before = scene.state();
  scene->opt.gravity[2] = std::nan("");
  const StepReport& report = stepper.step(scene.data);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(scene.state(), before);
}

TEST(EventStep, ServoPushesASliderOntoAWall) {
  // A servo pushes a slider onto a wall, where it comes to rest with every time step.
  const auto run_with = [](Integrator integrator, double dt) {
    Scene scene(make_mjcf(
        with_step(dt),
        R"(<worldbody><body><joint name="x" type="slide" axis="1 0 0" stiffness="50" damping="2"/>
<geom size="0.1" mass="1"/></body><geom type="box" pos="0.31 0 0" size="0.1 1 1"/></worldbody>
<actuator><position joint="x" kp="400" kv="20"/></actuator>)"));
    scene.data->ctrl[0] = 0.5;
    Stepper stepper(scene.model, make_event_options(ContactModel::no_slip, integrator));
    run(&stepper, &scene, static_cast<int>(std::lround(1 / dt)));
    EXPECT_NEAR(scene.data->qvel[0], 0, 1e-9);
    return scene.data->qpos[0];
  };
  EXPECT_NEAR(run_with(Integrator::event_driven, 1e-2), 0.11, 2 * kTouching);
  EXPECT_NEAR(run_with(Integrator::event_driven, 1e-3), 0.11, 2 * kTouching);
}

TEST(Events, StepsWithManyTurnsEnd) {
  for (const double speed : {1e3, 1e6, 1e9})
    for (const double dt : {2e-3, 1.0}) {
      Scene scene = make_fast_rod(dt, speed);
      Stepper stepper(scene.model,
                      make_event_options(ContactModel::no_slip, Integrator::event_driven));
      for (int i = 0; i < 3; ++i) {
        const StepStatistics& statistics = stepper.step(scene.data).statistics;
        EXPECT_LE(statistics.num_events, EventStep::kMaxEventsPerGeom * 4);
      }
    }
}

}  // namespace
}  // namespace stiction::sim::events_test
