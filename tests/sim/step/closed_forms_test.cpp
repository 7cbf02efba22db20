// Motions with a known answer, under each convex contact model.
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::closed_forms_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kGravity = 9.81;

class ClosedForm : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, ClosedForm, testing::ValuesIn(compliant_models()), model_name);

TEST_P(ClosedForm, FreeFallIsSymplecticEuler) {
  constexpr double kStep = 0.003;
  Scene scene(support::make_mjcf(R"(timestep="0.003")", R"(<worldbody>
<body pos="0 0 9"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="2"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam()));
  scene.data->qvel[0] = 1.5;
  for (int n = 1; n <= 300; ++n) {
    run(&stepper, &scene);
    ASSERT_NEAR(scene.data->qvel[2], -kGravity * kStep * n, 1e-13);
    ASSERT_NEAR(scene.data->qpos[2], 9 - kGravity * kStep * kStep * n * (n + 1) / 2, 1e-12);
    ASSERT_NEAR(scene.data->qpos[0], 1.5 * kStep * n, 1e-13);
  }
}

/// A mass that cannot turn, on an incline: the floor is level and gravity tilted.
struct Incline {
  static constexpr double kStep = 0.002, kMass = 1.5, kAngle = 20 * std::numbers::pi / 180;
  double mu;
  Scene scene;
  Stepper stepper;

  Incline(ContactModel model, double friction)
      : mu(friction),
        scene(support::make_mjcf(
            R"(timestep="0.002" gravity="0 0 -9.81")",
            R"(<worldbody><geom type="plane" size="50 50 1"/><body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1.5" priority="1" friction=")" +
                std::to_string(friction) + R"("/></body></worldbody>)")),
        stepper(
            scene.model, make_options(model, 1e-9),
            make_materials(
                scene, {.law = {.stiffness = 2e5, .dissipation = 20, .relaxation_time = 5e-4}})) {
    // Let the mass come to rest under the normal load of the incline.
    scene->opt.gravity[2] = -kGravity * std::cos(kAngle);
    run(&stepper, &scene, 1000);
    scene->opt.gravity[0] = kGravity * std::sin(kAngle);
  }
  double velocity() const { return scene.data->qvel[0]; }
  double normal_velocity() const { return scene.data->qvel[2]; }
};

/// Speed of a mass in stiction that carries the load of the incline, [theory:creep].
double predict_creep(ContactModel model, double mu) {
  const contact::ModelParameters p;
  const double w = std::sqrt(3.0) / 3 / Incline::kMass;  // |I / m|_F / 3
  const double normal = Incline::kMass * kGravity * std::cos(Incline::kAngle) * Incline::kStep;
  const double tangential = normal * std::tan(Incline::kAngle);
  if (model == ContactModel::sap) return p.friction_regularization * w * tangential;
  const double regularized = p.friction_regularization * w * mu * normal;
  const double eps = contact::traits(model).options.friction_regularization
                         ? std::max(p.stiction_tolerance, regularized)
                         : p.stiction_tolerance;
  const double rho = tangential / (mu * normal);
  if (model == ContactModel::tamsi) {
    // rho = (2 - x) v / v_s with x = sqrt(v^2 + (v_s / 100)^2) / v_s, by bisection.
    double low = 0, high = p.stiction_tolerance;
    for (int i = 0; i < 200; ++i) {
      const double v = 0.5 * (low + high), v_s = p.stiction_tolerance;
      (v / v_s * (2 - std::hypot(v / v_s, 0.01)) < rho ? low : high) = v;
    }
    return low;
  }
  return eps * rho / std::sqrt(1 - rho * rho);
}

TEST_P(ClosedForm, BlockSlidesToAStopOnAnIncline) {
  // The momentum along the incline gives v = v0 - mu sum(gamma_n) / m + g sin t, and across it
  // sum(gamma_n) / m = g cos t + v_n. The closed form v0 - g (mu cos - sin) t therefore holds up to
  // mu v_n, the lag of the friction bound by one step, and the stiction tolerance at the end.
  constexpr double kMu = 0.6, kSpeed = 1;
  Incline block(GetParam(), kMu);
  block.scene.data->qvel[0] = kSpeed;
  const double normal = kGravity * std::cos(Incline::kAngle);
  const double deceleration = kMu * normal - kGravity * std::sin(Incline::kAngle);
  const double creep = predict_creep(GetParam(), kMu);
  const double start = block.scene.data->qpos[0];
  double travel_tolerance = 0, stop_time = 0;
  for (int n = 1; stop_time == 0; ++n) {
    ASSERT_LT(n, 1000) << "does not stop";
    run(&block.stepper, &block.scene);
    const double t = n * Incline::kStep;
    const double tolerance =
        kMu * std::abs(block.normal_velocity()) + kMu * normal * Incline::kStep + 5e-4;
    ASSERT_NEAR(block.velocity(), std::max(0.0, kSpeed - deceleration * t), tolerance) << t;
    travel_tolerance += Incline::kStep * tolerance;
    if (block.velocity() < 2 * creep + 1e-5) stop_time = t;
  }
  EXPECT_NEAR(stop_time, kSpeed / deceleration, 0.03 * kSpeed / deceleration);
  const double distance = kSpeed * kSpeed / (2 * deceleration);
  EXPECT_LT(travel_tolerance, 0.15 * distance) << "the bound is vacuous";
  // Symplectic Euler lacks half a step of the initial speed.
  EXPECT_NEAR(block.scene.data->qpos[0] - start, distance,
              travel_tolerance + kSpeed * Incline::kStep);

  // The block then sticks and creeps as predicted.
  run(&block.stepper, &block.scene, 500);
  EXPECT_NEAR(block.velocity(), creep, 1e-5 * creep);
  const double held = block.scene.data->qpos[0];
  run(&block.stepper, &block.scene, 500);
  EXPECT_NEAR(block.scene.data->qpos[0] - held, creep * 1.0, 1e-5 * creep);
  EXPECT_LE(std::abs(block.normal_velocity()), 1e-10);
}

TEST_P(ClosedForm, BlockSticksBelowTheFrictionAngle) {
  Incline block(GetParam(), 0.4);  // tan 20 deg = 0.364
  const double start = block.scene.data->qpos[0];
  run(&block.stepper, &block.scene, 1000);
  const double creep = predict_creep(GetParam(), 0.4);
  EXPECT_NEAR(block.velocity(), creep, 1e-4 * creep);
  EXPECT_LE(block.scene.data->qpos[0] - start, 2.0 * creep * 1.01);
}

TEST_P(ClosedForm, BlockSlidesAboveTheFrictionAngle) {
  Incline block(GetParam(), 0.3);
  run(&block.stepper, &block.scene, 250);
  const double acceleration =
      kGravity * (std::sin(Incline::kAngle) - 0.3 * std::cos(Incline::kAngle));
  EXPECT_NEAR(block.velocity(), acceleration * 0.5,
              0.3 * std::abs(block.normal_velocity()) + 0.01 * acceleration * 0.5);
}

TEST_P(ClosedForm, BoxStandsOnATiltedPlane) {
  // The same test with a body that can turn, four contacts, and a tilted plane instead of gravity.
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom type="plane" size="9 9 1" euler="0 20 0" friction="0.6"/>
<body pos="0 0 0.0532" euler="0 20 0"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.6"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam()));
  run(&stepper, &scene, 500);
  const double x = scene.data->qpos[0], z = scene.data->qpos[2];
  run(&stepper, &scene, 500);
  EXPECT_LE(std::hypot(scene.data->qpos[0] - x, scene.data->qpos[2] - z),
            1.2e-4);  // creep below v_s
  double force = 0;
  const StepReport& report = stepper.step(scene.data);
  ASSERT_EQ(report.contacts.size(), 4);
  for (const double n : report.contacts.normal_impulse) force += n / 0.002;
  EXPECT_NEAR(force, kGravity * std::cos(20 * std::numbers::pi / 180), 1e-3);
}

TEST_P(ClosedForm, BallJointPendulumSwingsWithItsPeriod) {
  // Rod of length L with a point-like mass: I = m L^2 + 2/5 m r^2, T = 2 pi sqrt(I / (m g L))
  // (1 + a^2 / 16 + 11 a^4 / 3072).
  constexpr double kLength = 0.5, kRadius = 0.02, kAmplitude = 0.3, kStep = 0.001;
  Scene scene(
      support::make_mjcf(R"(timestep="0.001")", R"(<worldbody><body pos="0 0 2"><joint type="ball"/>
<geom size="0.02" pos="0 0 -0.5" mass="1"/></body></worldbody>)"));
  scene->opt.enableflags |= mjENBL_ENERGY;
  Stepper stepper(scene.model, make_options(GetParam()));
  scene.data->qpos[0] = std::cos(kAmplitude / 2);
  scene.data->qpos[1] = std::sin(kAmplitude / 2);
  const double inertia = kLength * kLength + 0.4 * kRadius * kRadius;
  const double a2 = kAmplitude * kAmplitude;
  const double period = 2 * std::numbers::pi * std::sqrt(inertia / (kGravity * kLength)) *
                        (1 + a2 / 16 + 11 * a2 * a2 / 3072);
  // Ten periods, from the downward crossings of the vertical.
  std::vector<double> crossings, energies;
  double last = kAmplitude;
  for (int n = 1; crossings.size() < 11; ++n) {
    ASSERT_LT(n, 40000);
    run(&stepper, &scene);
    const double angle = 2 * std::atan2(scene.data->qpos[1], scene.data->qpos[0]);
    if (last > 0 && angle <= 0) {
      crossings.push_back(kStep * (n - angle / (angle - last)));
      energies.push_back(scene.data->energy[0] + scene.data->energy[1]);
    }
    last = angle;
  }
  // Symplectic Euler shifts the period by (omega dt)^2 / 24 = 8e-7.
  EXPECT_NEAR((crossings[10] - crossings[0]) / 10, period, 1e-5 * period);
  const double swing = kGravity * kLength * (1 - std::cos(kAmplitude));
  EXPECT_NEAR(energies.back(), energies.front(), 1e-3 * swing);
}

TEST_P(ClosedForm, StackOfTenBoxesStands) {
  std::string boxes;
  for (int i = 0; i < 10; ++i)
    boxes += "<body pos=\"0 0 " + std::to_string(0.1 + 0.2 * i) +
             R"("><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>)";
  Scene scene(support::make_mjcf(
      R"(timestep="0.002")",
      R"(<worldbody><geom type="plane" size="9 9 1"/>)" + boxes + "</worldbody>"));
  Stepper stepper(scene.model, make_options(GetParam()));
  run(&stepper, &scene, 500);
  const std::vector<mjtNum> settled(scene.data->qpos, scene.data->qpos + scene->nq);
  run(&stepper, &scene, 499);
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  for (int i = 0; i < 10; ++i) {
    const mjtNum* q = scene.data->qpos + 7 * i;
    // The near-rigid springs sag by ten weights over 4 (2 pi / dt)^2 / w. A relaxation time makes
    // springs softer by (dt + tau) / dt = 11.
    const double sag = contact::traits(GetParam()).uses.relaxation_time ? 1e-4 : 1e-5;
    EXPECT_NEAR(q[2], 0.1 + 0.2 * i, sag * (i + 1));
    EXPECT_LE(std::hypot(q[0], q[1]), 1e-6) << "box " << i;
    EXPECT_LE(std::abs(q[2] - settled[7 * i + 2]), 1e-7) << "box " << i;
    EXPECT_GE(q[3], 1 - 1e-10);
  }
  double force[10] = {};  // on each box from below
  for (int c = 0; c < report.contacts.size(); ++c) {
    const int upper = std::max(report.contacts.bodies[2 * c], report.contacts.bodies[2 * c + 1]);
    force[upper - 1] += report.contacts.normal_impulse[c] / 0.002;
  }
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(force[i], (10 - i) * kGravity, 1e-3 * (10 - i)) << i;
}

TEST_P(ClosedForm, ImpactsNeverGainEnergy) {
  // In every step kinetic energy + potential energy + 1/2 k x_+^2 does not grow, up to the solver's
  // tolerance, because each law evaluates its spring at the end of the step. If a contact is found
  // only when it overlaps, the step before has no contact force and leaves a compressed spring.
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  for (const double k : {1e3, 1e5}) {
    for (const double d : {0.0, 5.0}) {
      Scene scene(support::make_mjcf(R"(timestep="0.002")",
                                     R"(<worldbody><geom type="plane" size="50 50 1"/>
<body pos="0 0 0.3"><freejoint/><geom size="0.1" mass="0.8" friction="0.5"/></body></worldbody>)"));
      Stepper stepper(
          scene.model, make_options(GetParam(), 1e-10),
          make_materials(scene,
                         {.law = {.stiffness = k, .dissipation = d, .relaxation_time = d / 1e3}}));
      const double pair_k = k / 2, inertia = 0.4 * 0.8 * 0.01;
      const auto energy = [&] {
        const double x = std::max(0.0, 0.1 - scene.data->qpos[2]);
        return 0.4 * mju_dot3(scene.data->qvel, scene.data->qvel) +
               0.5 * inertia * mju_dot3(scene.data->qvel + 3, scene.data->qvel + 3) +
               0.8 * kGravity * scene.data->qpos[2] + 0.5 * pair_k * x * x;
      };
      for (int trial = 0; trial < 5; ++trial) {
        mj_resetData(scene.model, scene.data);
        for (int i = 0; i < 6; ++i) scene.data->qvel[i] = 2 * normal(rng);
        double last = energy();
        bool has_touched = false;
        for (int n = 0; n < 500; ++n) {
          const StepReport& report = stepper.step(scene.data);
          ASSERT_TRUE(report.ok()) << report.message;
          has_touched |= report.contacts.size() > 0;
          const double now = energy();
          const double x = std::max(0.0, 0.1 - scene.data->qpos[2]);
          const double found = report.contacts.size() == 0 ? 0.5 * pair_k * x * x : 0;
          ASSERT_LE(now, last + found + 1e-9 * (1 + last))
              << "step " << n << " k " << k << " d " << d;
          last = now;
        }
        EXPECT_TRUE(has_touched);
      }
    }
  }
}

TEST_P(ClosedForm, UndampedBallBouncesBack) {
  // Without dissipation the implicit spring still loses energy, of first order in the time step.
  // The loss is small if the time step is much shorter than the contact, pi sqrt(m / k).
  Scene scene(
      support::make_mjcf(R"(timestep="0.0001")", R"(<worldbody><geom type="plane" size="50 50 1"/>
<body pos="0 0 0.3"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1" friction="0"/></body></worldbody>)"));
  Stepper stepper(
      scene.model, make_options(GetParam(), 1e-9),
      make_materials(scene, {.law = {.stiffness = 4e3, .dissipation = 0, .relaxation_time = 0}}));
  double highest = 0;
  bool rises = false;
  for (int n = 0; n < 6000; ++n) {
    run(&stepper, &scene);
    rises |= scene.data->qvel[0] > 1;
    if (rises) highest = std::max(highest, scene.data->qpos[0]);
  }
  // From 0.2 m; loss of energy in a bounce with omega dt = 0.0045: about pi omega dt / 2.
  EXPECT_TRUE(rises);
  EXPECT_NEAR(0.2 + highest, 0.2 * (1 - std::numbers::pi * std::sqrt(2e3) * 1e-4 / 2), 2e-3);
}

}  // namespace
}  // namespace stiction::sim::closed_forms_test
