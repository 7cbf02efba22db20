// A servo at its force limit is part of the convex problem: its force is that of the spring and
// damper at the end of the step, clamped.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "stiction/contact/contact_model.hpp"
#include "stiction/sim/stepper.hpp"
#include "support/scene.hpp"

namespace stiction::sim::servo_limits_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kKp = 1e4, kKv = 100, kLimit = 80, kMass = 0.05, kTarget = 0.055;

/// Three ways to limit the force of the same servo.
struct LimitCase {
  const char* name;
  const char* joint;      // attributes of the joint
  const char* tendon;     // attributes of a tendon; empty: the servo is on the joint
  const char* actuators;  // without the transmission, which replaces '@'
};
void PrintTo(const LimitCase& c, std::ostream* out) { *out << c.name; }

constexpr LimitCase kLimits[] = {
    {"of_the_actuator", "", "", R"(<position @ kp="1e4" kv="100" forcerange="-80 80"/>)"},
    {"of_the_actuator_with_gear", "", "",
     R"(<position @ kp="1e4" kv="100" gear="-1" forcerange="-80 80"/>)"},
    {"of_the_joint", R"(actuatorfrcrange="-80 80")", "", R"(<position @ kp="1e4" kv="100"/>)"},
    {"of_joint_and_actuator", R"(actuatorfrcrange="-200 80")", "",
     R"(<position @ kp="1e4" kv="100" forcerange="-80 100"/>)"},
    {"of_two_servos_of_a_joint", R"(actuatorfrcrange="-80 80")", "",
     R"(<position @ kp="1e4" kv="0"/><velocity @ kv="100"/>)"},
    {"of_the_tendons_actuator", "", R"(margin="0")",
     R"(<position @ kp="1e4" kv="100" forcerange="-80 80"/>)"},
    {"of_the_tendon", "", R"(actuatorfrcrange="-80 80")", R"(<position @ kp="1e4" kv="100"/>)"},
    {"of_two_servos_of_a_tendon", "", R"(actuatorfrcrange="-80 80")",
     R"(<position @ kp="1e4" kv="0"/><velocity @ kv="100"/>)"},
};

std::string replace(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A sliding mass with a stiff servo.
Scene make_slider(const LimitCase& limit, double dt) {
  const bool on_tendon = *limit.tendon;
  const std::string tendon = on_tendon ? "<tendon><fixed name='t' " + std::string(limit.tendon) +
                                             "><joint joint='j' coef='1'/></fixed></tendon>"
                                       : "";
  return Scene(support::make_mjcf(
      "gravity='0 0 0' timestep='" + std::to_string(dt) + "'",
      "<worldbody><body><joint name='j' type='slide' axis='1 0 0' " + std::string(limit.joint) +
          "/><geom type='box' size='.05 .05 .05' mass='.05' contype='0' "
          "conaffinity='0'/></body></worldbody>" +
          tendon + "<actuator>" +
          replace(limit.actuators, "@", on_tendon ? "tendon='t'" : "joint='j'") +
          "</actuator><sensor><jointactuatorfrc joint='j'/></sensor>"));
}

/// Sets the control of the position servo, with the sign of its gear.
void set_target(Scene* scene, double q) { scene->data->ctrl[0] = q * (*scene)->actuator_gear[0]; }

/// Returns the velocity after a step of the scalar problem: the root of the increasing function
/// m (v - v0) - dt clamp(kp (target - q - dt v) - kv v).
double solve_scalar(double q, double v0, double dt) {
  const auto clamp_at = [&](double v) {
    return std::clamp(kKp * (kTarget - q - dt * v) - kKv * v, -kLimit, kLimit);
  };
  double low = -1e3, high = 1e3;
  for (int i = 0; i < 200; ++i) {
    const double v = 0.5 * (low + high);
    (kMass * (v - v0) < dt * clamp_at(v) ? low : high) = v;
  }
  return 0.5 * (low + high);
}

StepOptions make_options(ContactModel model) {
  StepOptions options;
  options.contact_model = model;
  return options;
}

bool acts_in_step(ContactModel model) { return !contact::traits(model).is_rigid; }

class ServoLimit : public testing::TestWithParam<LimitCase> {};

TEST_P(ServoLimit, SettlesWithinTwelveStepsAsInDrake) {
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    if (traits.is_rigid || traits.model == ContactModel::mujoco) continue;
    Scene scene = make_slider(GetParam(), 0.015);
    set_target(&scene, kTarget);
    Stepper stepper(scene.model, make_options(traits.model));
    for (int i = 0; i < 200; ++i) {
      const double expected = solve_scalar(scene.data->qpos[0], scene.data->qvel[0], 0.015);
      const double v0 = scene.data->qvel[0];
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << traits.name << ": " << report.message;
      const double v = scene.data->qvel[0];
      EXPECT_NEAR(v, expected, 1e-9) << traits.name << ", step " << i;
      // Momentum balances with the forces in mjData and with the sensor.
      const double force = kMass * (v - v0) / 0.015;
      EXPECT_LE(std::abs(scene.data->qfrc_actuator[0]), kLimit * (1 + 1e-12));
      if (std::abs(force) < 1e-3 && i > 30) continue;
      const bool is_limited = i < 3;
      if (is_limited) {
        EXPECT_NEAR(scene.data->qfrc_actuator[0], force, 1e-6);
        EXPECT_NEAR(scene.data->sensordata[0], force, 1e-6);
        EXPECT_NEAR(scene.data->qfrc_smooth[0], force, 1e-6);
        EXPECT_NEAR(scene.data->qacc_smooth[0], force / kMass, 1e-4);
        double total = 0;
        for (int a = 0; a < scene->nactuator; ++a)
          total += scene.data->actuator_force[a] * scene->actuator_gear[6 * a];
        const bool limits_sum = scene->jnt_actfrclimited[0] && !scene->actuator_forcelimited[0];
        if (!limits_sum) {
          EXPECT_NEAR(total, force, 1e-6) << i;
        }
      }
      if (i >= 12) {
        EXPECT_NEAR(scene.data->qpos[0], kTarget, 2e-5) << traits.name << " " << i;
      }
    }
    EXPECT_NEAR(scene.data->qpos[0], kTarget, 1e-9);
    EXPECT_NEAR(scene.data->qvel[0], 0, 1e-8);
  }
}

TEST_P(ServoLimit, KeepsTheBitsOfAnUnlimitedServoWhileFarAway) {
  Scene limited = make_slider(GetParam(), 0.005), free = make_slider(GetParam(), 0.005);
  free->jnt_actfrclimited[0] = 0;
  for (int t = 0; t < free->ntendon; ++t) free->tendon_actfrclimited[t] = 0;
  for (int a = 0; a < free->nactuator; ++a) free->actuator_forcelimited[a] = 0;
  set_target(&limited, 1e-3);
  set_target(&free, 1e-3);
  Stepper stepper(limited.model, {}), other(free.model, {});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(stepper.step(limited.data).ok());
    ASSERT_TRUE(other.step(free.data).ok());
    EXPECT_EQ(limited.data->qvel[0], free.data->qvel[0]) << i;
    EXPECT_EQ(limited.data->actuator_force[0], free.data->actuator_force[0]) << i;
  }
}

TEST_P(ServoLimit, ConvergesToTheExplicitForce) {
  // mj_step with a very small time step is the reference.
  Scene reference = make_slider(GetParam(), 1e-6);
  set_target(&reference, kTarget);
  for (int i = 0; i < 12000; ++i) mj_step(reference.model, reference.data);
  double last = 0;
  for (const double dt : {4e-4, 2e-4, 1e-4}) {
    Scene scene = make_slider(GetParam(), dt);
    set_target(&scene, kTarget);
    Stepper stepper(scene.model, {});
    for (int i = 0; i < std::lround(0.012 / dt); ++i) ASSERT_TRUE(stepper.step(scene.data).ok());
    const double error = std::abs(scene.data->qpos[0] - reference.data->qpos[0]);
    if (last > 0) {
      EXPECT_LT(error, 0.7 * last) << dt;
    }
    last = error;
  }
  EXPECT_LT(last, 5e-4);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ServoLimit, testing::ValuesIn(kLimits),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ServoLimits, HoldUnderRigidModelsAtTheStartOfTheStep) {
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    if (!traits.is_rigid) continue;
    Scene scene = make_slider(kLimits[0], 0.002);
    set_target(&scene, kTarget);
    Stepper stepper(scene.model, make_options(traits.model));
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(stepper.step(scene.data).ok()) << traits.name;
      EXPECT_LE(std::abs(scene.data->actuator_force[0]), kLimit);
    }
    EXPECT_NEAR(scene.data->qpos[0], kTarget, 1e-6) << traits.name;
  }
}

/// An arm with a weak servo presses a box against a wall: the contact carries the limit.
TEST(ServoLimits, BoundTheForceOfAContact) {
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    if (!acts_in_step(traits.model) || traits.model == ContactModel::mujoco) continue;
    Scene scene(support::make_mjcf("gravity='0 0 0' timestep='0.01'", R"(
<worldbody><geom type="box" size="0.1 1 1" pos="0.21 0 0"/>
<body><joint name="j" type="slide" axis="1 0 0"/><geom type="sphere" size="0.1" mass="0.1"/></body></worldbody>
<actuator><position joint="j" kp="1e5" kv="300" forcerange="-20 20"/></actuator>)"));
    scene.data->ctrl[0] = 0.5;
    Stepper stepper(scene.model, make_options(traits.model));
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(stepper.step(scene.data).ok()) << traits.name;
    EXPECT_NEAR(scene.data->qvel[0], 0, 1e-5) << traits.name;
    EXPECT_NEAR(scene.data->qfrc_constraint[0], -20, 1e-3) << traits.name;
    EXPECT_NEAR(scene.data->actuator_force[0], 20, 1e-3) << traits.name;
  }
}

/// A servo with an activation and a delay reaches its limit: its force without the limit is that of
/// the delayed and filtered control.
TEST(ServoLimits, ReadTheInputOfServosWithDynamics) {
  for (
      const char* actuator :
      {R"(<position joint="j" kp="400" kv="40" timeconst="0.01" FORCE/>)",
       R"(<general joint="j" dyntype="filterexact" dynprm="0.02" gainprm="300" biastype="affine" biasprm="0.1 -300 -40" actearly="true" FORCE/>)",
       R"(<general joint="j" dyntype="integrator" gainprm="300" biastype="affine" biasprm="0 -300 -40" actlimited="true" actrange="-0.2 0.2" FORCE/>)",
       R"(<general joint="j" gaintype="affine" gainprm="10 -20 -2" biastype="affine" biasprm="1 -20 -4" FORCE/>)",
       R"(<general joint="j" gainprm="300" biastype="affine" biasprm="0 -300 -150" delay="0.006" nsample="4" interp="linear" FORCE/>)"}) {
    const std::string scene = R"(<worldbody><body><joint name="j" type="slide"/>
<geom size="0.1" mass="0.5"/></body></worldbody><actuator>)";
    const auto make = [&](const char* range) {
      return support::make_mjcf("gravity='0 0 0' timestep='0.002'",
                                scene + replace(actuator, "FORCE", range) + "</actuator>");
    };
    Scene limited(make("forcerange='-1 1'")), free(make("forcerange='-1e9 1e9'"));
    Stepper stepper(limited.model, {});
    bool is_held = false, is_released = false;
    for (int i = 0; i < 400; ++i) {
      limited.data->ctrl[0] = 0.3 * std::sin(0.05 * i);
      // The same state without the limit.
      mju_copy(free.data->qpos, limited.data->qpos, 1);
      mju_copy(free.data->qvel, limited.data->qvel, 1);
      mju_copy(free.data->act, limited.data->act, limited->na);
      mju_copy(free.data->history, limited.data->history, limited->nhistory);
      free.data->ctrl[0] = limited.data->ctrl[0];
      free.data->time = limited.data->time;
      mj_forward(free.model, free.data);
      const double unlimited = free.data->actuator_force[0], v0 = limited.data->qvel[0];
      const mjtNum* gain = limited->actuator_gainprm;
      const mjtNum* bias = limited->actuator_biasprm;
      const bool is_affine = limited->actuator_gaintype[0] == mjGAIN_AFFINE;
      const double input = is_affine ? free.data->ctrl[0] : 0;
      const double k = -bias[1] - (is_affine ? gain[1] * input : 0);
      const double b = -bias[2] - (is_affine ? gain[2] * input : 0);
      ASSERT_TRUE(stepper.step(limited.data).ok()) << actuator;
      const double v = limited.data->qvel[0];
      const double expected = std::clamp(unlimited - 0.002 * k * v - b * (v - v0), -1.0, 1.0);
      EXPECT_NEAR(0.5 * (v - v0) / 0.002, expected, 1e-8) << actuator << " " << i;
      is_held |= std::abs(expected) == 1;
      is_released |= std::abs(expected) < 1 && std::abs(unlimited) > 1;
    }
    EXPECT_TRUE(is_held) << actuator;
    EXPECT_TRUE(is_released) << actuator;
  }
}

/// Weak servos of two arms, on joints, a tendon along an arm and one across both, and a site.
constexpr const char* kArms = R"(
<worldbody><geom type="plane" size="9 9 1"/><site name="base" pos="0 0 1"/>
<body pos="0 0 .5"><joint name="a" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .2 0 0" mass=".3"/>
  <body pos=".2 0 0"><joint name="b" axis="0 1 0" actuatorfrcrange="-1 1.5"/><geom type="capsule" size=".03" fromto="0 0 0 .2 0 0" mass=".2"/>
    <body pos=".2 0 0"><joint name="c" axis="0 0 1"/><geom size=".04" mass=".1"/><site name="tip"/></body></body></body>
<body pos="0 .5 .4"><joint name="d" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass=".3"/>
  <body pos=".3 0 0"><joint name="e" type="slide" axis="1 0 0" actuatorfrcrange="-3 3"/><geom size=".05" mass=".2"/></body></body>
<body pos=".3 .1 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
<tendon><fixed name="along" actuatorfrcrange="-1 1"><joint joint="a" coef="1"/><joint joint="c" coef="-2"/></fixed>
  <fixed name="across"><joint joint="b" coef="1"/><joint joint="d" coef="1"/></fixed></tendon>
<actuator>
  <position joint="a" kp="500" kv="20" forcerange="-2 2"/>
  <position joint="b" kp="800" kv="5" gear="2"/><velocity joint="b" kv="10"/><motor joint="b"/>
  <position joint="c" kp="300" kv="3" forcerange="-.2 .3"/>
  <position joint="e" kp="2000" kv="40" forcerange="-2 5"/><motor joint="e"/>
  <position tendon="along" kp="200" kv="8"/><velocity tendon="along" kv="9"/>
  <position tendon="across" kp="300" kv="6" forcerange="-1 1"/>
  <position site="tip" refsite="base" kp="100" kv="5" gear="0 0 1 0 0 0" forcerange="-1 1"/>
</actuator><sensor><tendonactuatorfrc tendon="along"/><jointactuatorfrc joint="b"/></sensor>)";

TEST(ServoLimits, HoldInArmsThatTouchBodies) {
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    if (traits.is_rigid || traits.model == ContactModel::mujoco) continue;
    for (const double dt : {0.002, 0.01}) {
      Scene scene(support::make_mjcf("timestep='" + std::to_string(dt) + "'", kArms));
      Stepper stepper(scene.model, make_options(traits.model));
      for (int i = 0; i < std::lround(2 / dt); ++i) {
        for (int u = 0; u < scene->nu; ++u) scene.data->ctrl[u] = 2 * std::sin(3 * i * dt + u);
        const StepReport& report = stepper.step(scene.data);
        ASSERT_TRUE(report.ok()) << traits.name << " " << report.message;
        const mjData* d = scene.data;
        for (int a = 0; a < scene->nactuator; ++a) {
          const mjtNum* range = scene->actuator_forcerange + 2 * a;
          if (!scene->actuator_forcelimited[a]) continue;
          EXPECT_GE(d->actuator_force[a], range[0] - 1e-12) << traits.name << " " << a;
          EXPECT_LE(d->actuator_force[a], range[1] + 1e-12) << traits.name << " " << a;
        }
        for (const char* joint : {"b", "e"}) {
          const int dof = scene.dof(joint);
          EXPECT_LE(d->qfrc_actuator[dof], scene->jnt_actfrcrange[2 * dof + 1] + 1e-12) << joint;
          EXPECT_GE(d->qfrc_actuator[dof], scene->jnt_actfrcrange[2 * dof] - 1e-12) << joint;
        }
        EXPECT_LE(std::abs(d->sensordata[0]), 1 + 1e-12);
        EXPECT_EQ(d->sensordata[1], d->qfrc_actuator[scene.dof("b")]);
      }
    }
  }
}

}  // namespace
}  // namespace stiction::sim::servo_limits_test
