// Static friction above the dynamic one, under the friction law `elastic`.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::static_friction_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kStatic = 0.5, kDynamic = 0.3;

plant::MaterialTable make_frictions(const Scene& scene, double static_friction = kStatic) {
  plant::Material material = plant::make_default_material();
  material.law.stiffness = 1e7;
  material.friction = kDynamic;
  material.static_friction = static_friction;
  return make_materials(scene, material);
}

/// Turns gravity to a slope.
void tilt_to(double angle, Scene* scene) {
  scene->model->opt.gravity[0] = kGravity * std::sin(angle);
  scene->model->opt.gravity[2] = -kGravity * std::cos(angle);
}

/// Measures the acceleration of a block along a slope [m/s^2].
double measure_acceleration(Stepper* stepper, Scene* scene, double time) {
  const double v = scene->data->qvel[0], t = scene->data->time;
  run(stepper, scene, static_cast<int>(std::lround(time / stepper->time_step())));
  return (scene->data->qvel[0] - v) / (scene->data->time - t);
}

/// Lets a block come to rest, and turns it to a share of the slope at which it breaks away.
void settle_on_slope(double share, Stepper* stepper, Scene* scene) {
  const int num = static_cast<int>(std::lround(1 / stepper->time_step()));
  run(stepper, scene, num);
  for (int i = 1; i <= num; ++i) {
    tilt_to(std::atan(share * kStatic) * i / num, scene);
    run(stepper, scene);
  }
  run(stepper, scene, num);
}

/// Expects that a block slides down a slope with the dynamic friction.
void expect_slides(double share, Stepper* stepper, Scene* scene, double tolerance = 1e-6) {
  const double angle = std::atan(share * kStatic);
  tilt_to(angle, scene);
  measure_acceleration(stepper, scene, 0.4);
  EXPECT_NEAR(measure_acceleration(stepper, scene, 0.4),
              kGravity * (std::sin(angle) - kDynamic * std::cos(angle)), tolerance);
}

TEST(StaticFriction, HoldsABlockUpToItAndSlidingHasTheDynamicOne) {
  for (const ContactModel model : support::models_with_anchors()) {
    for (const double dt : {1e-3, 1e-2}) {
      Scene scene = make_incline(0, dt);
      Stepper stepper(scene.model, make_elastic(model), make_frictions(scene));
      settle_on_slope(0.98, &stepper, &scene);
      EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 5)), 1e-10) << dt;
      expect_slides(1.02, &stepper, &scene);
      // What slides goes on below the static friction.
      expect_slides(0.9, &stepper, &scene);
      // It has its static friction again once it has stopped, and does not turn back.
      tilt_to(-std::atan(0.9 * kStatic), &scene);
      while (scene.data->qvel[0] > 1e-3) run(&stepper, &scene);
      run(&stepper, &scene, static_cast<int>(std::lround(1 / dt)));
      EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 1)), 1e-10) << dt;
    }
  }
}

/// Torsion has the same ratio of static to dynamic friction as a slip.
TEST(StaticFriction, HoldsATorqueAboutTheNormal) {
  constexpr double kTorsion = 0.01, kMass = 2, kInertia = 0.4 * kMass * 0.1 * 0.1;
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene(support::make_mjcf(
        "timestep=\"0.002\"",
        R"(<worldbody><geom type="plane" size="5 5 1" friction="0.3 0.01 0" condim="4"/>
<body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="2" friction="0.3 0.01 0" condim="4"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_elastic(model), make_frictions(scene));
    const double dynamic = kTorsion * kMass * kGravity;
    const auto measure_rate = [&](double torque) {
      const double before = scene.data->qfrc_applied[5];
      for (int i = 1; i <= 400; ++i) {
        scene.data->qfrc_applied[5] = before + (torque - before) * i / 400;
        run(&stepper, &scene);
      }
      const double w = scene.data->qvel[5];
      run(&stepper, &scene, 200);
      return (scene.data->qvel[5] - w) / 0.4;
    };
    run(&stepper, &scene, 500);
    measure_rate(0.99 * dynamic * kStatic / kDynamic);
    const double turn = scene.data->qpos[6];  // about the normal, as a quaternion
    run(&stepper, &scene, 1000);
    EXPECT_NEAR(scene.data->qpos[6], turn, 1e-8);  // the springs swing by 2e-9
    for (const double share : {1.01, 0.9}) {       // of the static bound; it goes on below it
      const double torque = share * dynamic * kStatic / kDynamic;
      EXPECT_NEAR(measure_rate(torque), (torque - dynamic) / kInertia, 1e-3) << share;
    }
  }
}

TEST(StaticFriction, HoldsPatches) {
  Scene scene = make_incline(0, 2e-3);
  plant::MaterialTable materials = make_frictions(scene);
  materials.geoms[0].rigid = true;
  materials.geoms[1].hydroelastic_modulus = 1e7;
  Stepper stepper(scene.model, make_elastic(), materials);
  settle_on_slope(0.95, &stepper, &scene);
  EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 1)), 1e-9);
  expect_slides(1.05, &stepper, &scene, 1e-4);
  expect_slides(0.9, &stepper, &scene, 1e-4);
}

/// Halves of steps that are taken for their error alone, or rejected, change no contact's state.
TEST(StaticFriction, HoldsUnderErrorControl) {
  Scene scene = make_incline(0, 2e-3);
  Stepper stepper(scene.model, make_elastic(ContactModel::coulomb), make_frictions(scene));
  settle_on_slope(0.95, &stepper, &scene);
  const double x = scene.data->qpos[0];
  ASSERT_TRUE(stepper.advance(scene.data, {.until = scene.data->time + 1, .accuracy = 1e-4}).ok());
  EXPECT_LE(std::abs(scene.data->qpos[0] - x), 1e-9);
  const double angle = std::atan(1.05 * kStatic);
  tilt_to(angle, &scene);
  ASSERT_TRUE(
      stepper.advance(scene.data, {.until = scene.data->time + 0.2, .accuracy = 1e-4}).ok());
  const double v = scene.data->qvel[0];
  ASSERT_TRUE(
      stepper.advance(scene.data, {.until = scene.data->time + 0.5, .accuracy = 1e-4}).ok());
  EXPECT_NEAR((scene.data->qvel[0] - v) / 0.5,
              kGravity * (std::sin(angle) - kDynamic * std::cos(angle)), 1e-4);
}

/// A new contact has its static friction from the start if its bodies rest, and not if they slide.
TEST(StaticFriction, OfNewContactsFollowsTheirSlip) {
  const double angle = std::atan(0.9 * kStatic), dt = 1e-3;
  for (const double speed : {0.0, 0.1}) {
    Scene scene = make_incline(0.9, dt);
    scene.data->qvel[0] = speed;
    Stepper stepper(scene.model, make_elastic(ContactModel::coulomb), make_frictions(scene));
    run(&stepper, &scene, 200);
    const double a = measure_acceleration(&stepper, &scene, 0.5);
    const double exact = kGravity * (std::sin(angle) - kDynamic * std::cos(angle));
    EXPECT_NEAR(a, speed > 0 ? exact : 0, 1e-6);
  }
}

/// A block of 1 kg that a spring of 400 N/m pulls at a constant speed over a plane.
struct Pulled {
  static constexpr double kSpring = 400, kSpeed = 0.005;
  explicit Pulled(double dt, ContactModel model)
      : scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"", R"(<worldbody>
<geom type="plane" size="5 5 1"/><body pos="0 0 0.05"><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 0 1"/><geom type="box" size="0.1 0.1 0.05" mass="1"/></body></worldbody>)")),
        stepper(scene.model, make_elastic(model), make_frictions(scene)) {
    run(&stepper, &scene, static_cast<int>(std::lround(0.5 / dt)));
    start = scene.data->time;
    place = scene.data->qpos[0];
  }
  double stretch() const {
    return kSpeed * (scene.data->time - start) - (scene.data->qpos[0] - place);
  }
  const StepReport& step() {
    scene.data->xfrc_applied[6] = kSpring * stretch();
    return stepper.step(scene.data);
  }
  Scene scene;
  Stepper stepper;
  double start = 0, place = 0;
};

/// Returns by how much the stretch swings between its extremes [m].
double measure_amplitude(double dt, ContactModel model) {
  Pulled block(dt, model);
  int num_slips = 0;
  double last = 0, before_last = 0, largest = 0, smallest = 1;
  while (num_slips < 3) {
    const StepReport& report = block.step();
    EXPECT_TRUE(report.ok()) << report.message;
    EXPECT_LE(report.certificate.max_friction_work, 1e-12);
    EXPECT_LE(report.anchors.energy_gain, 1e-12);
    const double stretch = block.stretch();
    if (last > 0.9 * largest && last > before_last && last >= stretch) ++num_slips;
    largest = std::max(largest, stretch);
    if (num_slips > 0) smallest = std::min(smallest, stretch);
    before_last = last;
    last = stretch;
  }
  return largest - smallest;
}

/// The block breaks away at k s = mu_s N. While it slips, s swings freely about mu_d N / k, and it
/// sticks when its speed is zero again, at k s = (2 mu_d - mu_s) N. The speed of the pull adds the
/// second term of the amplitude.
TEST(StaticFriction, ABlockPulledByASpringSticksAndSlips) {
  constexpr double kSwing = (kStatic - kDynamic) * kGravity / Pulled::kSpring;
  const double exact = 2 * std::hypot(kSwing, Pulled::kSpeed / std::sqrt(Pulled::kSpring));
  EXPECT_NEAR(exact, 2 * kSwing, 0.002 * exact);
  for (const ContactModel model : support::models_with_anchors()) {
    double errors[2];
    for (const int i : {0, 1})
      errors[i] = measure_amplitude(i == 0 ? 2e-3 : 4e-4, model) / exact - 1;
    EXPECT_LE(std::abs(errors[1]), 0.01);
    EXPECT_NEAR(errors[1] / errors[0], 0.2, 0.03);  // first order
  }
}

TEST(StaticFriction, ACheckpointInASlipContinuesWithTheSameBits) {
  Pulled block(1e-3, ContactModel::coulomb);
  while (block.scene.data->qvel[0] < 0.02) block.step();
  Scene copy(block.scene);
  copy.set_state(block.scene.state());
  Stepper other(copy.model, make_elastic(ContactModel::coulomb), make_frictions(copy));
  other.set_state(block.stepper.get_state());
  for (int i = 0; i < 300; ++i) {
    block.step();
    copy.data->xfrc_applied[6] = block.scene.data->xfrc_applied[6];
    run(&other, &copy);
    ASSERT_TRUE(support::has_same_bits(block.scene.state(), copy.state())) << i;
  }
}

/// Without a static friction, or with one equal to the dynamic one, nothing changes.
TEST(StaticFriction, EqualToTheDynamicOneChangesNoBit) {
  Scene scene(make_pile(2e-3)), other(make_pile(2e-3));
  Stepper plain(scene.model, make_elastic(), make_frictions(scene, plant::kNaN));
  Stepper equal(other.model, make_elastic(), make_frictions(other, kDynamic));
  run(&plain, &scene, 400);
  run(&equal, &other, 400);
  EXPECT_TRUE(support::has_same_bits(scene.state(), other.state()));
  EXPECT_EQ(plain.get_state(), equal.get_state());
}

TEST(StaticFriction, APileGainsNoEnergy) {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene(make_pile(2e-3));
    Stepper stepper(scene.model, make_elastic(model), make_frictions(scene));
    for (int i = 0; i < 700; ++i) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      ASSERT_LE(report.certificate.max_friction_work, 1e-12);
      ASSERT_LE(report.anchors.energy_gain, 1e-10 * (report.anchors.energy + 1e-3)) << i;
    }
  }
}

}  // namespace
}  // namespace stiction::sim::static_friction_test
