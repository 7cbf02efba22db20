// In our step every actuator and every external input gives the same forces and activations as in
// mj_step.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stiction/sim/stepper.hpp"
#include "support/scene.hpp"

namespace stiction::sim::actuators_test {
namespace {

using support::Scene;

constexpr const char* kArm = R"(
<worldbody>
  <site name="base" pos="0 0 2.3"/>
  <body name="upper" pos="0 0 2" gravcomp="0.3"><joint name="a" axis="0 1 0" range="-90 90" actuatorgravcomp="true"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/><site name="crank" pos="0.2 0 0.05"/>
    <body name="lower" pos="0.4 0 0"><joint name="b" type="slide" axis="1 0 0" range="-1 1"/>
      <geom size="0.1" mass="1"/><site name="tip" pos="0.1 0 0"/>
      <body name="hand" pos="0.2 0 0"><joint name="c" type="ball"/>
        <geom type="box" size="0.1 0.05 0.02" mass="0.4" pos="0.1 0 0"/></body></body></body>
  <body name="box" pos="0 2 0.099"><freejoint name="box"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
  <body name="wheel" pos="0 4 0.5"><joint name="w" axis="0 0 1"/><geom type="cylinder" size="0.1 0.02"/></body>
  <geom type="plane" size="9 9 1"/>
</worldbody>
<tendon>
  <fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed>
  <spatial name="s"><site site="base"/><site site="tip"/></spatial>
</tendon>)";

struct ActuatorCase {
  const char* name;
  const char* xml;
};
void PrintTo(const ActuatorCase& c, std::ostream* out) { *out << c.name; }

constexpr ActuatorCase kActuators[] = {
    {"motor", R"(<motor joint="a" gear="3" ctrlrange="-1 1"/>)"},
    {"motor_on_tendon", R"(<motor tendon="s" ctrlrange="-5 5"/>)"},
    {"motor_on_site", R"(<motor site="tip" gear="1 2 3 0.1 0.2 0.3"/>)"},
    {"motor_on_slider_crank",
     R"(<motor cranksite="crank" slidersite="base" cranklength="0.5" gear="2"/>)"},
    {"motor_in_parent_frame", R"(<motor jointinparent="c" gear="1 0.5 0.2"/>)"},
    {"position", R"(<position joint="a" kp="100" kv="5" timeconst="0.05"/>)"},
    {"position_on_site", R"(<position site="tip" refsite="base" kp="10" gear="1 0 1 0 0.1 0"/>)"},
    {"velocity", R"(<velocity joint="b" kv="20" forcerange="-3 3"/>)"},
    {"intvelocity", R"(<intvelocity joint="a" kp="50" actrange="-0.5 0.5" ctrlrange="-9 9"/>)"},
    {"damper", R"(<damper joint="b" kv="10" ctrlrange="0 2"/>)"},
    {"cylinder", R"(<cylinder tendon="t" timeconst="0.1" area="0.3" bias="1 -2 -3"/>)"},
    {"muscle", R"(<muscle tendon="s" lengthrange="0.2 1.5" force="50" ctrlrange="0 1"/>)"},
    {"muscle_on_joint",
     R"(<muscle joint="a" lengthrange="-1.5 1.5" force="50" tausmooth="0.2" ctrlrange="0 1"/>)"},
    {"adhesion", R"(<adhesion body="box" gain="30" ctrlrange="0 1"/>)"},
    {"general_filter",
     R"(<general joint="a" dyntype="filter" dynprm="0.1" gainprm="3" biastype="affine" biasprm="1 -2 -3"/>)"},
    {"general_filterexact",
     R"(<general joint="b" dyntype="filterexact" dynprm="0.02" gainprm="3" actlimited="true" actrange="-0.3 0.4"/>)"},
    {"general_integrator",
     R"(<general joint="b" dyntype="integrator" gaintype="affine" gainprm="3 -1 -2" actearly="true"/>)"},
    {"general_delayed",
     R"(<general joint="a" gainprm="3" delay="0.004" nsample="3" interp="linear"/>)"},
    {"pid", R"(<pid joint="a" kp="50" kv="3" ki="20" imax="0.1" slewmax="2" input="pos vel ff"/>)"},
    {"orientation", R"(<orientation joint="c" kp="20" kv="1" forcerange="0 5"/>)"},
    {"orientation_quat", R"(<orientation joint="c" kp="20" kv="1" input="quat"/>)"},
    {"dcmotor",
     R"(<dcmotor joint="w" resistance="2" motorconst="0.05" inductance="0.01" gear="20" cogging="0.01 6 0.3"/>)"},
    {"dcmotor_with_friction",
     R"(<dcmotor joint="w" resistance="2" motorconst="0.05" lugre="100 1 0.02 0.03 0.1" input="pos vel ff" controller="3 1 0.1 0 0.5 24"/>)"},
};

class Actuator : public testing::TestWithParam<ActuatorCase> {};

/// Compares one step of ours with mj_step from the same state. Activations must be equal bit for
/// bit. Forces may differ by the round-off of an adhesion's Jacobian, which MuJoCo sums from its
/// rows.
TEST_P(Actuator, ForcesAndActivationsEqualMuJoCos) {
  for (const char* option :
       {R"(cone="pyramidal" jacobian="dense")", R"(cone="elliptic" jacobian="sparse")"}) {
    Scene ours(support::make_mjcf(
        option, kArm + ("<actuator>" + std::string(GetParam().xml) + "</actuator>")));
    Stepper stepper(ours.model, {});
    std::mt19937_64 rng(1);
    double largest = 0;
    for (int trial = 0; trial < 8; ++trial) {
      ours.randomize(0.3, &rng);
      const int box = ours.dof("box"), q = ours.qpos("box");
      mju_copy(ours.data->qpos + q, ours->qpos0 + q, 7);  // the box stays on the floor
      mju_zero(ours.data->qvel + box, 6);
      if (trial % 2) mju_scl(ours.data->ctrl, ours.data->ctrl, 10, ours->nu);  // beyond its range
      Scene theirs(ours);
      mj_step(theirs.model, theirs.data);
      const StepReport& report = stepper.step(ours.data);
      ASSERT_TRUE(report.ok()) << report.message;
      for (int i = 0; i < ours->nv; ++i) {
        EXPECT_NEAR(ours.data->qfrc_actuator[i], theirs.data->qfrc_actuator[i], 1e-14) << i;
        largest = std::max(largest, std::abs(ours.data->qfrc_actuator[i]));
      }
      for (int i = 0; i < ours->nactuator; ++i)
        EXPECT_EQ(ours.data->actuator_force[i], theirs.data->actuator_force[i]);
      for (int i = 0; i < ours->na; ++i) EXPECT_EQ(ours.data->act[i], theirs.data->act[i]);
    }
    EXPECT_GT(largest, 1e-3) << "the actuator does nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Actuator, testing::ValuesIn(kActuators),
                         [](const auto& info) { return std::string(info.param.name); });

/// Actuators whose damping does not come from an affine gain or bias.
constexpr ActuatorCase kDampers[] = {
    {"dcmotor", R"(<dcmotor joint="w" resistance="0.1" motorconst="0.05"/>)"},
    {"dcmotor_with_inductance",
     R"(<dcmotor joint="w" resistance="0.1" motorconst="0.05" inductance="0.001"/>)"},
    {"dcmotor_with_friction",
     R"(<dcmotor joint="w" resistance="2" motorconst="0.05" lugre="100 1 0.02 0.03 0.1"/>)"},
    {"dcmotor_with_position_control",
     R"(<dcmotor joint="w" resistance="2" motorconst="0.05" input="pos" controller="3 0 0.5"/>)"},
    {"dcmotor_at_its_voltage",
     R"(<dcmotor joint="w" resistance="0.2" motorconst="0.05" input="pos" controller="3 0 0.5 0 0 1"/>)"},
    {"dcmotor_with_control_and_inductance",
     R"(<dcmotor joint="w" resistance="0.2" motorconst="0.05" inductance="0.001" input="pos vel" controller="3 0 0.5 0 0 1"/>)"},
    {"passive_dcmotor", R"(<dcmotor joint="w" resistance="0.1" motorconst="0.05" input="none"/>)"},
    {"muscle", R"(<muscle joint="w" lengthrange="-1 1" force="20"/>)"},
};

class ActuatorDamping : public testing::TestWithParam<ActuatorCase> {};

TEST_P(ActuatorDamping, IsThatOfImplicitfast) {
  Scene ours(support::make_mjcf(R"(timestep="0.002" integrator="implicitfast")", R"(
<worldbody><body><joint name="w" axis="0 0 1"/><inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/></body></worldbody>
<actuator>)" + std::string(GetParam().xml) + "</actuator>"));
  Stepper stepper(ours.model, {});
  double explicit_difference = 0;
  for (const double speed : {-30.0, -8.0, -3.0, -0.5, 0.0, 0.5, 2.0, 20.0})
    for (const double control : {0.0, 0.3, 1.0}) {
      mj_resetData(ours.model, ours.data);
      ours.data->qvel[0] = speed;
      for (int i = 0; i < ours->nu; ++i) ours.data->ctrl[i] = control;
      for (int i = 0; i < ours->na; ++i) ours.data->act[i] = 0.1 * control;
      Scene theirs(ours), euler(ours);
      euler->opt.integrator = mjINT_EULER;
      mj_step(theirs.model, theirs.data);
      mj_step(euler.model, euler.data);
      ASSERT_TRUE(stepper.step(ours.data).ok());
      EXPECT_NEAR(ours.data->qvel[0], theirs.data->qvel[0], 1e-12 * (1 + std::abs(speed)))
          << "speed " << speed << ", control " << control;
      explicit_difference =
          std::max(explicit_difference, std::abs(ours.data->qvel[0] - euler.data->qvel[0]));
    }
  EXPECT_GT(explicit_difference, 1e-3) << "the actuator has no damping";
}

INSTANTIATE_TEST_SUITE_P(Types, ActuatorDamping, testing::ValuesIn(kDampers),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Actuator, DisabledGroupsGiveNoForce) {
  Scene scene(support::make_mjcf(
      R"(actuatorgroupdisable="2")",
      kArm +
          std::string(
              R"(<actuator><motor joint="a" group="2"/><position joint="b" kp="1e4" group="2"/></actuator>)")));
  scene->opt.disableflags |= mjDSBL_CONTACT;
  scene.data->ctrl[0] = 5;
  Scene theirs(scene);
  theirs->opt.integrator = mjINT_DISCRETE;
  Stepper stepper(scene.model, {});
  ASSERT_TRUE(stepper.step(scene.data).ok());
  mj_step(theirs.model, theirs.data);
  for (int i = 0; i < scene->nv; ++i) {  // gravity compensation alone
    EXPECT_EQ(scene.data->qfrc_actuator[i], theirs.data->qfrc_actuator[i]);
    EXPECT_NEAR(scene.data->qvel[i], theirs.data->qvel[i], 1e-12);
  }
}

TEST(Inputs, AppliedForcesAccelerateBodies) {
  Scene scene(support::make_mjcf(R"(gravity="0 0 0" timestep="0.01")", R"(
<worldbody><body pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body>
<body pos="1 0 1"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="4"/></body></worldbody>)"));
  Stepper stepper(scene.model, {});
  scene.data->xfrc_applied[6] = 3;        // force along x on the first body [N]
  scene.data->xfrc_applied[6 + 5] = 0.2;  // torque about z [N m]
  scene.data->qfrc_applied[6] = -8;
  ASSERT_TRUE(stepper.step(scene.data).ok());
  const double inertia = 2 * (0.04 + 0.04) / 12;
  EXPECT_NEAR(scene.data->qvel[0], 0.01 * 3 / 2, 1e-15);
  EXPECT_NEAR(scene.data->qvel[5], 0.01 * 0.2 / inertia, 1e-13);
  EXPECT_NEAR(scene.data->qvel[6], 0.01 * -8 / 4, 1e-15);
}

TEST(Inputs, MocapBodyPushesTheBodyThatItTouches) {
  Scene scene(support::make_mjcf(R"(gravity="0 0 0" timestep="0.002")", R"(
<worldbody><body mocap="true" pos="-0.2 0 0"><geom type="box" size="0.1 0.1 0.1"/></body>
<body pos="0.101 0 0"><joint type="slide" axis="1 0 0"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, {});
  double paddle = 0;
  for (int i = 0; i < 500; ++i) {
    paddle = scene.data->mocap_pos[0] = -0.2 + 0.3 * i * 0.002;  // 0.3 m/s
    ASSERT_TRUE(stepper.step(scene.data).ok());
  }
  // The faces of the two boxes touch if their centers are 0.2 m apart.
  EXPECT_GE(0.101 + scene.data->qpos[0] - paddle, 0.2 - 0.3 * 0.002);
}

}  // namespace
}  // namespace stiction::sim::actuators_test
