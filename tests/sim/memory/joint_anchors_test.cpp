// The friction law `elastic` in joints and tendons: what their dry friction holds does not move.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::joint_anchors_test {
namespace {

using contact::ContactModel;
using support::has_same_bits;
using support::Scene;

/// A body or two with dry friction of 2 N or N m.
struct Plant {
  const char* name;
  const char* mjcf;
  std::vector<double> bound;  // the forces of the dofs that use all of it [N, N m]
  double inertia;             // of the first dof [kg, kg m^2]
};

constexpr double kBound = 2;

const std::vector<Plant>& plants() {
  static const std::vector<Plant> list = {
      {"hinge",
       R"(<worldbody><body><joint axis="0 0 1" frictionloss="2" armature="0.03"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.07"/></body></worldbody>)",
       {kBound},
       0.1},
      {"light_hinge",
       R"(<worldbody><body><joint axis="0 0 1" frictionloss="2"/>
<inertial pos="0 0 0" mass="1" diaginertia="1e-4 1e-4 1e-4"/></body></worldbody>)",
       {kBound},
       1e-4},
      {"slide",
       R"(<worldbody><body><joint type="slide" axis="1 0 0" frictionloss="2"/>
<geom size="0.1" mass="5"/></body></worldbody>)",
       {kBound},
       5},
      {"ball",
       R"(<worldbody><body><joint type="ball" frictionloss="2"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody>)",
       {kBound, 0, -kBound},
       0.1},
      {"fixed_tendon",
       R"(<worldbody><body><joint name="a" type="slide" axis="1 0 0"/><geom size="0.1" mass="5"/></body>
<body pos="0 1 0"><joint name="b" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody>
<tendon><fixed frictionloss="2"><joint joint="a" coef="0.5"/><joint joint="b" coef="-1"/></fixed></tendon>)",
       {0.5 * kBound, -kBound},
       5},
      {"spatial_tendon",
       R"(<worldbody><site name="a" pos="-1 0 0"/>
<body><joint type="slide" axis="1 0 0"/><geom size="0.1" mass="5"/><site name="b"/></body></worldbody>
<tendon><spatial frictionloss="2"><site site="a"/><site site="b"/></spatial></tendon>)",
       {kBound},
       5},
  };
  return list;
}

struct Case {
  int plant;
  ContactModel model;
  double dt;
};

class DryJoint : public testing::TestWithParam<Case> {
 protected:
  const Plant& plant() const { return plants()[GetParam().plant]; }
  Scene make_scene(double share) const {
    Scene scene(support::make_mjcf(
        "timestep=\"" + std::to_string(GetParam().dt) + "\" gravity=\"0 0 0\"", plant().mjcf));
    for (int i = 0; i < scene.model->nv; ++i)
      scene.data->qfrc_applied[i] = share * plant().bound[i];
    return scene;
  }
  int num_steps(double time) const { return static_cast<int>(std::lround(time / GetParam().dt)); }
};

TEST_P(DryJoint, RestsBelowItsBound) {
  for (const double share : {0.3, 0.99}) {
    Scene scene = make_scene(share);
    Stepper stepper(scene.model, make_elastic(GetParam().model));
    run(&stepper, &scene, num_steps(0.3));
    const std::vector<mjtNum> rest(scene.data->qpos, scene.data->qpos + scene.model->nq);
    for (int i = 0; i < num_steps(0.3); ++i) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      EXPECT_LE(report.certificate.max_friction_work, 1e-14);
      for (int dof = 0; dof < scene.model->nv; ++dof)
        EXPECT_LE(std::abs(scene.data->qvel[dof]), 1e-12) << share;
    }
    for (int i = 0; i < scene.model->nq; ++i) EXPECT_NEAR(scene.data->qpos[i], rest[i], 1e-13);
    EXPECT_EQ(scene.data->efc_state[0], mjCNSTRSTATE_QUADRATIC);  // it sticks
  }
}

TEST_P(DryJoint, SlidesBeyondItsBoundAsCoulombSays) {
  Scene scene = make_scene(1.01);
  Stepper stepper(scene.model, make_elastic(GetParam().model));
  run(&stepper, &scene, num_steps(0.1));
  const double v = scene.data->qvel[0], t = scene.data->time;
  run(&stepper, &scene, num_steps(0.1));
  const double exact = 0.01 * plant().bound[0] / plant().inertia;
  EXPECT_NEAR((scene.data->qvel[0] - v) / (scene.data->time - t), exact, 1e-6 * exact);
  EXPECT_NE(scene.data->efc_state[0], mjCNSTRSTATE_QUADRATIC);
}

std::vector<Case> list_cases() {
  std::vector<Case> cases;
  for (int plant = 0; plant < static_cast<int>(plants().size()); ++plant)
    for (const ContactModel model : support::models_with_anchors())
      for (const double dt : {2e-3, 1e-2}) cases.push_back({plant, model, dt});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, DryJoint, testing::ValuesIn(list_cases()), [](const auto& info) {
  return std::string(plants()[info.param.plant].name) + "_" +
         std::string(contact::traits(info.param.model).name) + "_" +
         std::to_string(std::lround(1e3 * info.param.dt)) + "ms";
});

/// A mass of 2 kg on a spring of 200 N/m, with a dry friction of 1 N.
Scene make_oscillator(double dt, const std::string& joint = R"( stiffness="200")") {
  return Scene(support::make_mjcf(
      "timestep=\"" + std::to_string(dt) + "\" gravity=\"0 0 0\"",
      "<worldbody><body><joint name=\"x\" type=\"slide\" axis=\"1 0 0\" frictionloss=\"1\"" +
          joint + "/><geom size=\"0.1\" mass=\"2\"/></body></worldbody>"));
}

TEST(JointAnchors, AnOscillatorComesToRestWhereCoulombSays) {
  // Each half swing takes 2 F / k from the amplitude, until the spring holds less than F.
  const auto find_error = [](double dt) {
    Scene scene = make_oscillator(dt);
    scene.data->qpos[0] = 0.047;
    Stepper stepper(scene.model, make_elastic());
    run(&stepper, &scene, static_cast<int>(std::lround(3 / dt)));
    EXPECT_LE(std::abs(scene.data->qvel[0]), 1e-12);
    return scene.data->qpos[0] - (0.047 - 5 * 0.01) * -1;
  };
  const double coarse = find_error(4e-4), fine = find_error(1e-4);
  EXPECT_NEAR(coarse / fine, 4, 1) << coarse << " " << fine;
  EXPECT_LE(std::abs(fine), 3e-4);
}

TEST(JointAnchors, AMassOnADrivenSpringBreaksAwayAndSlips) {
  // The end of the spring moves at V. From F / (k V) on, x = V t - V / w sin(w t).
  constexpr double kV = 0.1, kSpring = 200, kOmega = 10;
  const auto find_error = [](double dt) {
    Scene scene = make_oscillator(dt, "");
    Stepper stepper(scene.model, make_elastic());
    double largest = 0;
    while (scene.data->time < 1.2) {
      scene.data->qfrc_applied[0] = kSpring * (kV * scene.data->time - scene.data->qpos[0]);
      run(&stepper, &scene);
      const double t = std::max(0.0, scene.data->time - 1 / (kSpring * kV));
      const double exact = kV * t - kV / kOmega * std::sin(kOmega * t);
      largest = std::max(largest, std::abs(scene.data->qpos[0] - exact));
    }
    return largest;
  };
  const double coarse = find_error(4e-3), fine = find_error(1e-3);
  EXPECT_GE(coarse / fine, 3.5) << coarse << " " << fine;
  EXPECT_LE(fine, 1e-6);
}

/// An arm of two hinges in a vertical plane and a tendon, all with dry friction, and a ball.
constexpr const char* kArm = R"(<worldbody><site name="wall" pos="0.4 0 0.6"/>
<body><joint name="one" axis="0 1 0" frictionloss="3" damping="0.01"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="0.5"/>
 <body pos="0.5 0 0"><joint name="two" axis="0 1 0" frictionloss="1" range="-40 60" limited="true"/>
  <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.2"/><site name="tip" pos="0.3 0 0"/></body></body>
<body pos="0 1 0"><joint type="ball" frictionloss="0.2"/><geom pos="0.2 0 0" size="0.05" mass="0.1"/></body></worldbody>
<tendon><spatial frictionloss="2"><site site="wall"/><site site="tip"/></spatial></tendon>
<actuator><position joint="one" kp="40" kv="2"/></actuator>)";

Scene make_arm(double dt = 2e-3, const std::string& flags = "") {
  return Scene(support::make_mjcf("timestep=\"" + std::to_string(dt) + "\"", flags + kArm));
}

void drive_arm(Scene* scene) { scene->data->ctrl[0] = 0.6 * std::sin(4 * scene->data->time); }

TEST(JointAnchors, ACheckpointContinuesWithTheSameBits) {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene = make_arm();
    Stepper stepper(scene.model, make_elastic(model));
    for (int checkpoint = 0; checkpoint < 4; ++checkpoint) {
      for (int i = 0; i < 77; ++i) {
        drive_arm(&scene);
        run(&stepper, &scene);
      }
      Scene copy(scene);
      copy.set_state(scene.state());
      Stepper other(copy.model, make_elastic(model)), forgetful(copy.model, make_elastic(model));
      other.set_state(stepper.get_state());
      for (int i = 0; i < 20; ++i) {
        run(&stepper, &scene);
        run(&other, &copy);
        ASSERT_TRUE(has_same_bits(scene.state(), copy.state())) << checkpoint << " " << i;
      }
      EXPECT_EQ(stepper.save_anchors(), other.save_anchors());
    }
  }
}

TEST(JointAnchors, FrictionGivesBackWhatItsSpringsHold) {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene = make_arm();
    Stepper stepper(scene.model, make_elastic(model));
    double energy = 0;
    for (int i = 0; i < 1500; ++i) {
      drive_arm(&scene);
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
      ASSERT_TRUE(report.certificate.ok);
      ASSERT_LE(report.certificate.max_friction_work, 1e-14) << i;
      energy = std::max(energy, report.anchors.energy);
    }
    EXPECT_GT(energy, 0);
  }
}

TEST(JointAnchors, AFailedStepAndForwardLeaveThemAsTheyWere) {
  Scene scene = make_arm();
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 100);
  expect_kept_by_forward_and_failure(&stepper, &scene);
}

TEST(JointAnchors, AnotherStateFindsNone) {
  Scene scene = make_arm();
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 100);
  scene.data->qpos[0] += 0.01;
  const StepReport& moved = stepper.step(scene.data);
  EXPECT_EQ(moved.anchors.num_forgotten, 3);  // 2 dofs of the tree that was moved, and the tendon
  EXPECT_TRUE(moved.missing_memory & kAnchors);
  EXPECT_EQ(stepper.step(scene.data).anchors.num_forgotten, 0);
}

TEST(JointAnchors, AnActuatedJointRestsWhereItsServoIsTooWeak) {
  Scene scene = make_arm();
  Stepper stepper(scene.model, make_elastic());
  scene.data->ctrl[0] = 0.1;
  run(&stepper, &scene, 1500);
  for (int dof = 0; dof < 2; ++dof) EXPECT_LE(std::abs(scene.data->qvel[dof]), 1e-12);
  EXPECT_GT(std::abs(scene.data->qpos[0] - 0.1), 1e-3);
}

TEST(JointAnchors, AJointRestsAgainstItsLimit) {
  Scene scene(support::make_mjcf("gravity=\"0 0 0\"", R"(<worldbody><body>
<joint type="slide" axis="1 0 0" frictionloss="2" limited="true" range="-1 0.05"/><geom size="0.1" mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_elastic());
  scene.data->qfrc_applied[0] = 5;
  run(&stepper, &scene, 1000);
  EXPECT_LE(std::abs(scene.data->qvel[0]), 1e-12);
  scene.data->qfrc_applied[0] = -1.9;  // less than friction can hold
  run(&stepper, &scene, 1000);
  EXPECT_LE(std::abs(scene.data->qvel[0]), 1e-12);
  EXPECT_NEAR(scene.data->qpos[0], 0.05, 2e-3);
}

TEST(JointAnchors, FrictionMayChangeInTheRun) {
  Scene scene(support::make_mjcf("gravity=\"0 0 0\"", R"(<worldbody><body>
<joint type="slide" axis="1 0 0" frictionloss="2"/><geom size="0.1" mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_elastic());
  scene.data->qfrc_applied[0] = 1.5;
  const auto slide = [&](double friction) {
    scene.model->dof_frictionloss[0] = friction;
    run(&stepper, &scene, 50);
    const double v = scene.data->qvel[0], t = scene.data->time;
    run(&stepper, &scene, 50);
    return (scene.data->qvel[0] - v) / (scene.data->time - t);
  };
  EXPECT_NEAR(slide(2), 0, 1e-12);
  EXPECT_NEAR(slide(1), 0.5, 1e-9);
  EXPECT_NEAR(slide(0), 1.5, 1e-9);
  EXPECT_NEAR(slide(1), 0.5, 1e-9);
  scene.model->dof_frictionloss[0] = 5;
  run(&stepper, &scene, 500);
  EXPECT_LE(std::abs(scene.data->qvel[0]), 1e-12);
}

TEST(JointAnchors, AStifferSpringTakesTheForceAndNotTheStretch) {
  // A light slide has a spring that yields by 0.01 mm at its bound, so its stiffness follows this.
  Scene scene(support::make_mjcf("timestep=\"0.002\" gravity=\"0 0 0\"", R"(<worldbody><body>
<joint type="slide" axis="1 0 0" frictionloss="2"/><geom size="0.1" mass="0.001"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_elastic());
  for (const double force : {1.99, 2.01}) {  // until it slips
    scene.data->qfrc_applied[0] = force;
    run(&stepper, &scene, force < 2 ? 100 : 1);
  }
  const double x = scene.data->qpos[0];
  EXPECT_NEAR(stepper.step(scene.data).anchors.energy, 0.5 * 2 * 1e-5, 1e-8);
  scene.data->qfrc_applied[0] = 0;
  scene.data->qvel[0] = 0;
  scene.model->dof_frictionloss[0] = 8;
  const double start = scene.data->qpos[0];
  EXPECT_GT(start, x);
  run(&stepper, &scene, 100);
  EXPECT_NEAR(scene.data->qpos[0], start - 1e-5 * 2 / 8, 1e-8);
}

TEST(JointAnchors, WhatSleepsKeepsItsSprings) {
  Scene scene(support::make_mjcf("", R"(<option><flag sleep="enable"/></option><worldbody>
<body><joint axis="0 1 0" frictionloss="2"/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="0.5"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_elastic());
  int num_asleep = 0;
  for (int i = 0; i < 1000 && num_asleep == 0; ++i)
    num_asleep = stepper.step(scene.data).statistics.num_asleep;
  ASSERT_EQ(num_asleep, 1);
  run(&stepper, &scene, 20);
  const double rest = scene.data->qpos[0];
  scene.data->qfrc_applied[0] = 1e-9;  // wakes it
  const StepReport& report = stepper.step(scene.data);
  EXPECT_EQ(report.statistics.num_asleep, 0);
  EXPECT_FALSE(report.missing_memory & kAnchors);
  run(&stepper, &scene, 20);
  EXPECT_NEAR(scene.data->qpos[0], rest, 1e-12);
  // Without its spring it yields first.
  stepper.forget_anchors();
  run(&stepper, &scene, 20);
  EXPECT_GT(scene.data->qpos[0] - rest, 1e-7);
}

TEST(JointAnchors, TheyHoldInAdvance) {
  for (const double accuracy : {1e-3, 1e-6}) {
    Scene scene = make_arm();
    Stepper stepper(scene.model, make_elastic());
    const auto advance = [&](double time) {
      const StepReport& report =
          stepper.advance(scene.data, {.until = scene.data->time + time, .accuracy = accuracy});
      ASSERT_TRUE(report.ok()) << report.message;
    };
    advance(2);
    const double one = scene.data->qpos[0], two = scene.data->qpos[1];
    advance(1);
    EXPECT_NEAR(scene.data->qpos[0], one, 1e-10) << accuracy;
    EXPECT_NEAR(scene.data->qpos[1], two, 1e-10) << accuracy;
  }
}

TEST(JointAnchors, ASpringTakesALoadWithoutASwing) {
  Scene scene(support::make_mjcf("timestep=\"0.002\" gravity=\"0 0 0\"", R"(<worldbody><body>
<joint type="slide" axis="1 0 0" frictionloss="2"/><geom size="0.1" mass="5"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_elastic());
  scene.data->qfrc_applied[0] = 1;
  // Its period is a time step. Only steps that resolve it could show a swing.
  const double frequency = 2 * std::numbers::pi / 0.002, rest = 1 / (5 * frequency * frequency);
  double x = 0;
  for (int i = 1; i <= 60; ++i) {
    const StepReport& report = stepper.advance(scene.data, {.until = 1e-4 * i, .accuracy = 1e-9});
    ASSERT_TRUE(report.ok()) << report.message;
    EXPECT_GE(scene.data->qpos[0], x - 1e-4 * rest);
    x = scene.data->qpos[0];
    EXPECT_LE(x, rest * 1.001);
  }
  EXPECT_NEAR(x, rest, 1e-3 * rest);
}

/// A mass that circles at 1 m/s at the end of a tendon of 0.5 m, which must hold 2 N.
Scene make_circle(double friction) {
  Scene scene(support::make_mjcf("timestep=\"0.002\" gravity=\"0 0 0\"",
                                 R"(<worldbody><site name="a"/>
<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><geom size="0.1" mass="1"/><site name="b"/></body></worldbody>
<tendon><spatial frictionloss="4"><site site="a"/><site site="b"/></spatial></tendon>)"));
  scene.model->tendon_frictionloss[0] = friction;
  scene.data->qpos[0] = 0.5;
  scene.data->qvel[1] = 1;
  return scene;
}

double find_radius(const Scene& scene) {
  return std::hypot(scene.data->qpos[0], scene.data->qpos[1]);
}

TEST(JointAnchors, ATendonHoldsWhatCirclesAtItsEnd) {
  // The chord of each step is longer than its arc, by which the circle would grow by 2 mm/s.
  for (const double friction : {4.0, 2.2}) {
    Scene scene = make_circle(friction);
    Stepper stepper(scene.model, make_elastic());
    run(&stepper, &scene, 100);
    const double radius = find_radius(scene);
    run(&stepper, &scene, 3000);
    EXPECT_NEAR(find_radius(scene), radius, 1e-9) << friction;
  }
}

TEST(JointAnchors, ATendonHoldsWhereStepsEndExtrapolated) {
  for (const double accuracy : {1e-4, 1e-6}) {
    Scene scene = make_circle(4);
    Stepper stepper(scene.model, make_elastic());
    const auto advance = [&](double until) {
      const StepReport& report =
          stepper.advance(scene.data, {.until = until, .accuracy = accuracy});
      ASSERT_TRUE(report.ok()) << report.message;
    };
    advance(0.5);
    const double radius = find_radius(scene);
    advance(4);
    EXPECT_NEAR(find_radius(scene), radius, 0.03 * accuracy) << accuracy;
  }
}

}  // namespace
}  // namespace stiction::sim::joint_anchors_test
