// The integrator rk4: its order, its touches and its constraints.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/event_scenes.hpp"

namespace stiction::sim::rk4_test {
namespace {

using contact::ContactModel;
using support::make_mjcf;
using support::Scene;

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
  const std::string link = R"(<default><geom type="capsule" size="0.02" contype="0"
conaffinity="0"/></default><worldbody><body pos="0 0 1"><joint axis="0 1 0"/><geom fromto="0 0 0 )";
  const std::string stretched = link + R"(0.3 0 0"/>
<body name="c" pos="0.3 0 0"><joint axis="0 1 0"/><geom fromto="0 0 0 0.3 0 0"/></body></body>
</worldbody><equality><connect body1="c" anchor="0.3 0 0"/></equality>)";
  const std::string parallelogram = link + R"(0 0 0.3"/>
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

TEST(Rk4Step, LongStepsHaveABoundedNumberOfParts) {
  for (const double dt : {0.01, 1.0, 1e6}) {
    Scene scene = make_fast_rod(dt, 2e3);
    Stepper stepper(scene.model, make_rk4_options());
    for (int i = 0; i < 3; ++i) EXPECT_LE(stepper.step(scene.data).statistics.num_parts, 2000);
  }
}

}  // namespace
}  // namespace stiction::sim::rk4_test
