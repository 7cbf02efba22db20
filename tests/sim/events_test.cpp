// Steps that end where geoms touch: the integrators event_driven and rk4.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/stepping.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/event_step.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModel;
using support::make_mjcf;
using support::Scene;

constexpr double kGravity = 9.81;
constexpr double kTouching = 1e-6;  // [m]

StepOptions make_event_options(ContactModel model, Integrator integrator) {
  StepOptions options = make_options(model);
  options.integrator = integrator;
  return options;
}

std::string with_step(double dt) { return "timestep=\"" + std::to_string(dt) + "\""; }

plant::Material make_material(double viscous_friction, double restitution) {
  plant::Material material = plant::kDefaultMaterial;
  material.law.viscous_friction = viscous_friction;
  material.law.restitution = restitution;
  return material;
}

Scene make_ball(double height, double dt = 1e-3) {
  return Scene(make_mjcf(with_step(dt),
                         R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 )" + std::to_string(0.1 + height) +
                             R"("><freejoint/><geom size="0.1" mass="2"/></body></worldbody>)"));
}

double energy(const Scene& scene) {
  Scene other(scene);
  mj_kinematics(other.model, other.data);
  mj_comPos(other.model, other.data);
  mj_crb(other.model, other.data);
  mj_comVel(other.model, other.data);
  mj_energyPos(other.model, other.data);
  mj_energyVel(other.model, other.data);
  return other.data->energy[0] + other.data->energy[1];
}

// ---- semi-implicit Euler with events ------------------------------------------------------------

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

// ---- order 4 ------------------------------------------------------------------------------------

StepOptions make_rk4_options() {
  return make_event_options(ContactModel::viscous, Integrator::rk4);
}

/// RK4 of v' = -4 nu v / m: each step multiplies by the first terms of the exponential.
TEST(Rk4Step, BoxSlidesByViscousFriction) {
  const double dt = 1e-3, nu = 3, mass = 2;
  Scene scene(make_mjcf(with_step(dt), R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body></worldbody>)"));
  scene.data->qvel[0] = 1.5;
  Stepper stepper(scene.model, make_rk4_options(), make_materials(scene, make_material(nu, 0)));
  const double x = -4 * nu * dt / mass;
  const double factor = 1 + x + x * x / 2 + x * x * x / 6 + x * x * x * x / 24;
  for (int i = 1; i <= 1000; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    ASSERT_EQ(report.statistics.num_parts, 1) << i;
    ASSERT_NEAR(scene.data->qvel[0], 1.5 * std::pow(factor, i), 1e-12) << i;
  }
  EXPECT_NEAR(scene.data->qvel[0], 1.5 * std::exp(-4 * nu / mass), 1e-9);
  EXPECT_NEAR(scene.data->qpos[2], 0.1, 1e-12);
}

TEST(Rk4Step, ReportsTheMomentumResidualOfImpactsAndAccelerations) {
  Scene scene = make_ball(0.01);
  scene.data->qvel[0] = 1.5;
  Stepper stepper(scene.model, make_rk4_options(), make_materials(scene, make_material(3, 0)));
  double largest = 0;
  for (int i = 0; i < 100; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    ASSERT_LE(report.momentum_error, 1e-12) << i;
    largest = std::max(largest, report.momentum_error);
  }
  EXPECT_GT(largest, 0);  // 0 would mean that nothing was compared
}

double find_order(const std::vector<double>& errors) {
  return std::log2(errors[errors.size() - 2] / errors.back());
}

TEST(Rk4Step, PendulumIsOfOrderFour) {
  const auto end_at = [](double dt) {
    Scene scene(make_mjcf(with_step(dt), R"(<worldbody><body pos="0 0 1"><joint axis="0 1 0"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0"/><body pos="0.5 0 0"><joint axis="0 1 0" damping="0.01"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/></body></body></worldbody>)"));
    Stepper stepper(scene.model, make_rk4_options());
    run(&stepper, &scene, static_cast<int>(std::lround(0.64 / dt)));
    return scene.data->qpos[1];
  };
  const double exact = end_at(1e-4);
  std::vector<double> errors;
  for (const double dt : {8e-3, 4e-3, 2e-3}) errors.push_back(std::abs(end_at(dt) - exact));
  EXPECT_NEAR(find_order(errors), 4, 0.3) << errors.back();
}

/// Free bodies without forces and with three different moments of inertia, whose rotations do not
/// commute.
TEST(Rk4Step, TumblingBodyIsOfOrderFour) {
  const auto end_at = [](double dt) {
    Scene scene(
        make_mjcf("gravity=\"0 0 0\" " + with_step(dt),
                  R"(<worldbody><body><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
<body pos="2 0 0"><joint type="ball"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/></body></worldbody>)"));
    for (int i = 3; i < 9; ++i) scene.data->qvel[i] = 3 + i % 3;
    Stepper stepper(scene.model, make_rk4_options());
    run(&stepper, &scene, static_cast<int>(std::lround(0.64 / dt)));
    return std::vector<double>(scene.data->qpos + 3, scene.data->qpos + 11);
  };
  const std::vector<double> exact = end_at(5e-4);
  std::vector<double> errors;
  for (const double dt : {1.6e-2, 8e-3, 4e-3}) {
    const std::vector<double> end = end_at(dt);
    double largest = 0;
    for (std::size_t i = 0; i < end.size(); ++i)
      largest = std::max(largest, std::abs(end[i] - exact[i]));
    errors.push_back(largest);
  }
  EXPECT_NEAR(find_order(errors), 4, 0.4) << errors.back();
}

/// A ball that falls from the height h touches after sqrt(2 h/g) with the speed sqrt(2 g h). It
/// flies up for the rest of the step.
TEST(Rk4Step, BallTouchesAtTheExactTimeOfItsFall) {
  const double height = 0.2, dt = 1e-3;
  Scene scene = make_ball(height, dt);
  Stepper stepper(scene.model, make_rk4_options(), make_materials(scene, make_material(0, 1)));
  const double touch = std::sqrt(2 * height / kGravity), speed = kGravity * touch;
  int num_steps = 0, num_halvings = 0, num_events = 0;
  for (; (num_steps + 1) * dt < touch; ++num_steps) {
    run(&stepper, &scene);
    const double t = (num_steps + 1) * dt;
    ASSERT_NEAR(scene.data->qpos[2], 0.1 + height - 0.5 * kGravity * t * t, 1e-12);
  }
  for (int i = 0; i < 20; ++i, ++num_steps) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    num_halvings += report.statistics.num_halvings;
    num_events += report.statistics.num_events;
  }
  EXPECT_GE(num_halvings, 1);
  EXPECT_EQ(num_events, 1);
  // Conservative advancement ends within kTouching, before 1e-5 s of Euler with its whole gravity.
  const double t = num_steps * dt - touch, slack = 2 * kTouching + kGravity * 1e-5 * t;
  EXPECT_NEAR(scene.data->qpos[2], 0.1 + speed * t - 0.5 * kGravity * t * t, slack);
  EXPECT_NEAR(scene.data->qvel[2], speed - kGravity * t, 2 * kGravity * 1e-5);
}

/// The bounces have e^2, e^4, ... of the first height. They end after (1 + e)/(1 - e) times the
/// time of the first fall.
TEST(Rk4Step, BouncesLoseTheirHeightBySquaresOfRestitution) {
  const double height = 0.2, e = 0.5;
  Scene scene = make_ball(height);
  Stepper stepper(scene.model, make_rk4_options(), make_materials(scene, make_material(0, e)));
  const double first = std::sqrt(2 * height / kGravity);
  double bounce_end = first;
  for (int n = 1; n <= 4; ++n) {
    const double flight = 2 * first * std::pow(e, n);
    while (scene.data->time < bounce_end + 0.5 * flight) run(&stepper, &scene);
    const double v = scene.data->qvel[2];
    const double top = scene.data->qpos[2] - 0.1 + 0.5 * v * v / kGravity;
    // Each touch is within 1e-5 s of semi-implicit Euler, whose gravity comes first.
    const double slack = 4 * kGravity * first * 1e-5 * std::pow(e, n);
    EXPECT_NEAR(top, height * std::pow(e, 2 * n), slack) << n;
    bounce_end += flight;
  }
  while (scene.data->time < first * (1 + e) / (1 - e) + 0.01) run(&stepper, &scene);
  EXPECT_NEAR(scene.data->qvel[2], 0, 2e-4);
  run(&stepper, &scene, 200);
  EXPECT_NEAR(scene.data->qpos[2], 0.1, 3 * kTouching);
  EXPECT_NEAR(scene.data->qvel[2], 0, 1e-5);
}

/// A ball that slides off a larger one without friction leaves it where the height over the center
/// is 2/3 of what it was: its normal accelerates by v^2/r, which N-dot v is.
TEST(Rk4Step, BallSlidesOffABallAtTwoThirdsOfItsHeight) {
  Scene scene(make_mjcf(with_step(1e-3), R"(<worldbody><geom size="0.9"/>
<body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  scene.data->qvel[0] = 0.05;
  const double start_energy = energy(scene);
  Stepper stepper(scene.model, make_rk4_options());
  double left_at = 0;
  for (int i = 0; i < 3000 && left_at == 0; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    const double* p = scene.data->qpos;
    const double gap = std::sqrt(p[0] * p[0] + p[2] * p[2]) - 1;
    ASSERT_GT(gap, -kTouching) << i;
    const std::vector<double>& impulses = report.contacts.normal_impulse;
    if (impulses.empty() || impulses[0] == 0) left_at = p[2];
  }
  // (v0^2 = 0.0025) + 2 g (1 - z) = g z
  EXPECT_NEAR(left_at, (0.0025 / kGravity + 2) / 3, 3e-3);
  EXPECT_NEAR(energy(scene), start_energy, 1e-6 * std::abs(start_energy));
}

/// A four-bar linkage: a chain of three hinges whose end is fixed. It has one degree of freedom and
/// a redundant constraint row.
TEST(Rk4Step, ClosedLoopsStayClosed) {
  Scene scene(make_mjcf(
      with_step(1e-3),
      R"(<default><geom type="capsule" size="0.02" contype="0" conaffinity="0"/></default><worldbody>
<body pos="0 0 1"><joint axis="0 1 0"/><geom fromto="0 0 0 0 0 0.3"/>
<body pos="0 0 0.3"><joint axis="0 1 0"/><geom fromto="0 0 0 0.5 0 0.1"/>
<body name="c" pos="0.5 0 0.1"><joint axis="0 1 0"/><geom fromto="0 0 0 0 0 -0.4"/></body></body></body>
</worldbody><equality><connect body1="c" anchor="0 0 -0.4"/></equality>)"));
  // The coupler begins without turning.
  scene.data->qvel[0] = 0.5;
  scene.data->qvel[1] = -0.5;
  scene.data->qvel[2] = 0.5 * 0.3 / 0.4;
  const double start_energy = energy(scene);
  Stepper stepper(scene.model, make_rk4_options());
  double fastest = 0;
  for (int i = 0; i < 2000; ++i) {
    run(&stepper, &scene);
    fastest = std::max(fastest, std::abs(scene.data->qvel[0]));
    double open = 0;
    for (int row = 0; row < scene.data->ne; ++row)
      open = std::max(open, std::abs(scene.data->efc_pos[row]));
    ASSERT_LT(open, 1e-7) << i;
  }
  EXPECT_GT(fastest, 1);
  EXPECT_NEAR(energy(scene), start_energy, 1e-6 * start_energy);
}

/// Links that pass a straight position. There the rows of the loop depend on each other, and no
/// finite acceleration keeps the loop closed.
TEST(Rk4Step, LoopsPassTheirSingularPositions) {
  const char* const kLink = R"(<default><geom type="capsule" size="0.02" contype="0"
conaffinity="0"/></default><worldbody><body pos="0 0 1"><joint axis="0 1 0"/><geom fromto="0 0 0 )";
  const std::string stretched = std::string(kLink) + R"(0.3 0 0"/>
<body name="c" pos="0.3 0 0"><joint axis="0 1 0"/><geom fromto="0 0 0 0.3 0 0"/></body></body>
</worldbody><equality><connect body1="c" anchor="0.3 0 0"/></equality>)";
  const std::string parallelogram = std::string(kLink) + R"(0 0 0.3"/>
<body pos="0 0 0.3"><joint axis="0 1 0"/><geom fromto="0 0 0 0.5 0 0"/>
<body name="c" pos="0.5 0 0"><joint axis="0 1 0"/><geom fromto="0 0 0 0 0 -0.3"/></body></body></body>
</worldbody><equality><connect body1="c" anchor="0 0 -0.3"/></equality>)";
  for (const std::string& xml : {stretched, parallelogram}) {
    for (const double speed : {0.001, 1.0, 5.0}) {
      Scene scene(make_mjcf(with_step(1e-3), xml));
      for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = (i % 2 ? -2 : 1) * speed;
      const double start_energy = energy(scene);
      Stepper stepper(scene.model, make_rk4_options());
      for (int i = 0; i < 2000; ++i) {
        const StepReport& report = stepper.step(scene.data);
        ASSERT_TRUE(report.ok()) << report.message;
        for (int row = 0; row < scene.data->ne; ++row)
          ASSERT_LT(std::abs(scene.data->efc_pos[row]), 1e-6) << i;
        // At singular positions a part of Euler's method moves the center by at most g h^2 / 2.
        ASSERT_LT(energy(scene), start_energy * (1 + 1e-3)) << i;
      }
    }
  }
}

TEST(Rk4Step, LimitsStopWithoutRebound) {
  Scene scene(
      make_mjcf(with_step(1e-3),
                R"(<worldbody><body pos="0 0 1"><joint axis="0 1 0" range="-90 30" limited="true"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_rk4_options());
  run(&stepper, &scene, 600);
  EXPECT_NEAR(scene.data->qpos[0], std::numbers::pi / 6, 1e-4);
  EXPECT_NEAR(scene.data->qvel[0], 0, 1e-9);
}

// ---- unsupported scenes -------------------------------------------------------------------------

std::string refusal_of(const Scene& scene, const StepOptions& options) {
  try {
    const Stepper stepper(scene.model, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Integrators, AreRejectedWithTheNameOfASuitableOne) {
  const Scene scene = make_ball(0.1);
  const auto refusal = [&](ContactModel model, Integrator integrator) {
    return refusal_of(scene, make_event_options(model, integrator));
  };
  EXPECT_NE(refusal(ContactModel::lagged, Integrator::event_driven).find("'euler'"),
            std::string::npos);
  EXPECT_NE(refusal(ContactModel::lagged, Integrator::rk4).find("'euler'"), std::string::npos);
  EXPECT_NE(refusal(ContactModel::mujoco, Integrator::event_driven).find("'euler'"),
            std::string::npos);
  EXPECT_NE(refusal(ContactModel::no_slip, Integrator::rk4).find("'event_driven'"),
            std::string::npos);
  EXPECT_EQ(refusal(ContactModel::no_slip, Integrator::event_driven), "");
  EXPECT_EQ(refusal(ContactModel::viscous, Integrator::rk4), "");
  const Scene dry(make_mjcf(
      "",
      R"(<worldbody><body><joint name="j" frictionloss="1"/><geom size="0.1"/></body></worldbody>)"));
  const std::string text = refusal_of(dry, make_rk4_options());
  EXPECT_NE(text.find("joint 'j'"), std::string::npos) << text;
  EXPECT_NE(text.find("event_driven"), std::string::npos) << text;
}

/// Returns a rod that swings against the floor, much too fast for the time step.
Scene make_fast_rod(double dt, double speed) {
  Scene scene(make_mjcf(with_step(dt), R"(<worldbody><geom type="plane" size="9 9 1"/>
    <body pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02"/>
      <body pos=".5 0 0"><joint axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .7 0 0" size=".02"/></body></body></worldbody>)"));
  scene.data->qvel[0] = speed;
  scene.data->qvel[1] = -speed;
  return scene;
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

TEST(Rk4, LongStepsHaveABoundedNumberOfParts) {
  for (const double dt : {0.01, 1.0, 1e6}) {
    Scene scene = make_fast_rod(dt, 2e3);
    Stepper stepper(scene.model, make_rk4_options());
    for (int i = 0; i < 3; ++i) EXPECT_LE(stepper.step(scene.data).statistics.num_parts, 2000);
  }
}

TEST(Integrators, FailIfAContactCannotBeFound) {
  struct Entry {
    mjtNum* (*find)(mjModel*);
    const char* text;
  };
  for (const Entry& entry : {Entry{[](mjModel* m) { return m->geom_size + 3; }, "geom 1: size"},
                             {[](mjModel* m) { return m->geom_pos + 3; }, "geom 1: pos"},
                             {[](mjModel* m) { return m->geom_margin + 1; }, "geom 1: margin"},
                             {[](mjModel* m) { return m->geom_gap + 1; }, "geom 1: gap"}}) {
    for (const Integrator integrator :
         {Integrator::euler, Integrator::event_driven, Integrator::rk4}) {
      Scene scene = make_ball(0);
      Stepper stepper(scene.model, make_event_options(ContactModel::viscous, integrator));
      ASSERT_TRUE(stepper.step(scene.data).ok());
      const auto state = scene.state();
      *entry.find(scene.model) = std::nan("");
      const StepReport& report = stepper.step(scene.data);
      EXPECT_EQ(report.status, kNonFiniteInput);
      EXPECT_EQ(report.message.find(entry.text + std::string(" is nan")), 0u) << report.message;
      EXPECT_EQ(scene.state(), state);
    }
  }
}

TEST(Integrators, HaveNames) {
  for (const IntegratorTraits& row : integrators()) EXPECT_EQ(name_of(row.integrator), row.name);
}

}  // namespace
}  // namespace stiction::sim
