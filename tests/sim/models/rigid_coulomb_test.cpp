// `rigid_coulomb` in motion: friction that has no preferred direction, closed forms of slopes, and
// the limit of `coulomb` for stiff springs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "sim/models/cluster.hpp"

namespace stiction::sim::rigid_coulomb_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kGravity = 9.81, kMu = 0.5, kTimeStep = 1e-3;

/// A flat box of 2 kg on a plane, with gravity that is tilted by `slope` towards `azimuth` [rad].
Scene make_box(double slope, double azimuth) {
  Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(
    <worldbody>
      <geom type="plane" size="0 0 1" friction="0.5"/>
      <body pos="0 0 0.02"><freejoint/>
        <geom type="box" size=".1 .1 .02" mass="2" friction="0.5"/></body>
    </worldbody>)"));
  mjtNum* gravity = scene.model->opt.gravity;
  gravity[0] = kGravity * std::sin(slope) * std::cos(azimuth);
  gravity[1] = kGravity * std::sin(slope) * std::sin(azimuth);
  gravity[2] = -kGravity * std::cos(slope);
  return scene;
}

constexpr int kNumSteps = 100;

/// Returns the velocity after 0.1 s, along `azimuth`, across it, and the largest spin.
struct Slide {
  double along = 0, across = 0, spin = 0;
};
Slide slide(double slope, double azimuth, double speed) {
  Scene scene = make_box(slope, azimuth);
  Stepper stepper(scene.model, make_options(ContactModel::rigid_coulomb));
  mjtNum* v = scene.data->qvel;
  v[0] = speed * std::cos(azimuth);
  v[1] = speed * std::sin(azimuth);
  run(&stepper, &scene, kNumSteps);
  return {v[0] * std::cos(azimuth) + v[1] * std::sin(azimuth),
          v[1] * std::cos(azimuth) - v[0] * std::sin(azimuth),
          std::max({std::abs(v[3]), std::abs(v[4]), std::abs(v[5])})};
}

// Under `stewart_trinkle` with four directions a box that starts at 22.5 degrees slows down by 0.86
// mu g, and its way turns by 19 degrees.
TEST(RigidCoulomb, ABoxSlidesStraightAtAnyAzimuth) {
  for (int k = 0; k < 48; ++k) {
    const double azimuth = 2 * std::numbers::pi * k / 48;
    const Slide end = slide(0, azimuth, 1);
    EXPECT_NEAR(end.along, 1 - kMu * kGravity * kNumSteps * kTimeStep, 1e-9) << azimuth;
    EXPECT_NEAR(end.across, 0, 1e-9) << azimuth;
    EXPECT_NEAR(end.spin, 0, 1e-9) << azimuth;
  }
}

TEST(RigidCoulomb, ABoxOnASlopeSticksOrSlidesAtAnyAzimuth) {
  for (int k = 0; k < 24; ++k) {
    const double azimuth = 2 * std::numbers::pi * k / 24, limit = std::atan(kMu);
    const Slide stuck = slide(0.999 * limit, azimuth, 0);
    EXPECT_NEAR(std::hypot(stuck.along, stuck.across), 0, 1e-12) << azimuth;
    const double slope = 1.1 * limit;
    const Slide end = slide(slope, azimuth, 0);
    const double acceleration = kGravity * (std::sin(slope) - kMu * std::cos(slope));
    EXPECT_NEAR(end.along, acceleration * kNumSteps * kTimeStep, 1e-9) << azimuth;
    EXPECT_NEAR(end.across, 0, 1e-9) << azimuth;
  }
}

/// Calls check(report, scene) for every step of seeded clusters of bodies.
template <class Check>
void for_each_step(const Check& check) {
  for (int seed = 0; seed < 6; ++seed) {
    support::RandomSceneOptions options;
    options.num_bodies = 10;
    options.num_hinged = seed % 2 * 3;
    options.mass_ratio = 100;
    Scene scene(support::make_random_scene(seed, options));
    set_velocities(&scene, seed, 0.5, options);
    Stepper stepper(scene.model, make_options(ContactModel::rigid_coulomb));
    for (int step = 0; step < 30; ++step) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << "seed " << seed << " step " << step << ": " << report.message;
      check(report, scene);
    }
  }
}

TEST(RigidCoulomb, FrictionDissipatesTheMostThatItsDiskAllows) {
  int num_slipping = 0, num_sticking = 0;
  for_each_step([&](const StepReport& report, const Scene& scene) {
    const ContactReport& contacts = report.contacts;
    double largest = 0;
    for (const double n : contacts.normal_impulse) largest = std::max(largest, n);
    for (int c = 0; c < contacts.size(); ++c) {
      const Vector n = at(contacts.normal, c), slip = at(contacts.slip_velocity, c);
      const Vector friction = at(contacts.impulse, c) - contacts.normal_impulse[c] * n;
      const double mu = std::max(scene->geom_friction[3 * contacts.geoms[2 * c]],
                                 scene->geom_friction[3 * contacts.geoms[2 * c + 1]]);
      const double bound = mu * contacts.normal_impulse[c];
      EXPECT_LE(friction.norm(), bound + 1e-12 * largest);
      EXPECT_NEAR(friction.dot(slip), -bound * slip.norm(), 1e-10 * largest);
      if (bound > 0) ++(slip.norm() > 1e-6 ? num_slipping : num_sticking);
    }
  });
  EXPECT_GT(num_slipping, 300);
  EXPECT_GT(num_sticking, 100);
}

TEST(RigidCoulomb, CertificatesAreFarBelowTheirTolerance) {
  double worst = 0;
  for_each_step([&](const StepReport& report, const Scene&) {
    EXPECT_TRUE(report.certificate.ok);
    worst = std::max(worst, report.certificate.rigid.complementarity);
  });
  EXPECT_LE(worst, 1e-9);
}

/// The velocities of a pushed stack after some steps.
std::vector<double> push_stack(ContactModel model, double stiffness, double stiction_tolerance) {
  Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(
    <worldbody>
      <geom type="plane" size="0 0 1" friction="0.4"/>
      <body pos="0 0 0.1"><freejoint/>
        <geom type="box" size=".1 .1 .1" mass="2" friction="0.4"/></body>
      <body pos="0.01 0.02 0.3"><freejoint/>
        <geom type="box" size=".1 .1 .1" mass="1" friction="0.4"/></body>
    </worldbody>)"));
  plant::Material material = plant::kDefaultMaterial;
  material.law.stiffness = stiffness;
  StepOptions options = make_options(model, 1e-10);
  options.parameters.stiction_tolerance = stiction_tolerance;
  options.parameters.friction_regularization = 0;
  Stepper stepper(scene.model, options, make_materials(scene, material));
  scene.data->qvel[0] = 0.5;
  scene.data->qvel[1] = 0.2;
  run(&stepper, &scene, 30);
  return {scene.data->qvel, scene.data->qvel + scene->nv};
}

TEST(RigidCoulomb, IsTheLimitOfCoulombForStiffContact) {
  const std::vector<double> rigid =
      push_stack(ContactModel::rigid_coulomb, contact::kInfinity, 1e-4);
  const auto calc_error = [&](double stiffness) {
    const std::vector<double> compliant =
        push_stack(ContactModel::coulomb, stiffness, 1e2 / stiffness);
    double error = 0;
    for (std::size_t i = 0; i < rigid.size(); ++i)
      error = std::max(error, std::abs(rigid[i] - compliant[i]));
    return error;
  };
  // Measured: 2e-2, 5e-3, 2e-4, 3e-4, 3e-4 for 1e4 to 1e8 N/m. What is left is the slip tolerance
  // and the friction that springs have in the first step.
  const double soft = calc_error(1e4), stiff = calc_error(1e6);
  EXPECT_LE(stiff, 0.05 * soft);
  EXPECT_LE(calc_error(1e8), 1e-3);
}

/// Contacts of a tabletop share its weight like equal springs.
TEST(RigidCoulomb, FourLegsCarryTheSameLoad) {
  Scene scene = make_box(0, 0);
  Stepper stepper(scene.model, make_options(ContactModel::rigid_coulomb));
  const StepReport& report = stepper.step(scene.data);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report.contacts.size(), 4);
  for (const double impulse : report.contacts.normal_impulse)
    EXPECT_NEAR(impulse, 2 * kGravity * kTimeStep / 4, 1e-12);
}

/// A push of 1 N into a box that stands between two walls makes no contacts press against each
/// other.
TEST(RigidCoulomb, RedundantContactsDoNotPressAgainstEachOther) {
  Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(
    <worldbody>
      <geom type="plane" size="0 0 1"/>
      <geom type="box" size=".1 1 1" pos="-0.2 0 0"/><geom type="box" size=".1 1 1" pos="0.2 0 0"/>
      <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    </worldbody>)"));
  Stepper stepper(scene.model, make_options(ContactModel::rigid_coulomb));
  scene.data->xfrc_applied[6] = 1;
  for (int step = 0; step < 50; ++step) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    double sum = 0;
    for (const double impulse : report.contacts.normal_impulse) sum += impulse;
    EXPECT_LE(sum, 1.5 * (kGravity + 1) * kTimeStep) << step;
  }
}

}  // namespace
}  // namespace stiction::sim::rigid_coulomb_test
