#include "stiction/sim/warnings/motion_warnings.hpp"

#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::rotation_warning_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr int kKind = static_cast<int>(WarningKind::rotation);
constexpr double kHalfTurn = 3.14159265358979323846 / 0.002;  // per step [rad/s]

/// Steps one body once and returns the warnings.
/// @param joint a joint named "j"
/// @param dof   the dof with a velocity
WarningReport step(ContactModel model, const std::string& joint, int dof, double speed) {
  Scene scene(support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0")",
      "<worldbody><body>" + joint + R"(<geom size="0.1" mass="1"/></body></worldbody>)"));
  scene.data->qvel[dof] = speed;
  Stepper stepper(scene.model, make_options(model));
  return stepper.step(scene.data, 1).warnings[kKind];
}

class RotationWarning : public testing::TestWithParam<ContactModel> {};

TEST_P(RotationWarning, MoreThanHalfATurnWarns) {
  struct Case {
    std::string joint;
    int dof;
  };
  for (const Case& c :
       {Case{R"(<joint name="j" axis="1 0 0"/>)", 0}, Case{R"(<joint name="j" type="ball"/>)", 1},
        Case{R"(<freejoint name="j"/>)", 5}})
    for (const double sign : {1.0, -1.0}) {
      const WarningReport fast = step(GetParam(), c.joint, c.dof, 1.1 * sign * kHalfTurn);
      EXPECT_EQ(fast.count, 1) << c.joint;
      EXPECT_NE(fast.text.str().find("joint 'j' turns by 3.46 rad in the step"), std::string::npos)
          << fast.text;
      EXPECT_EQ(step(GetParam(), c.joint, c.dof, 0.9 * sign * kHalfTurn).count, 0) << c.joint;
    }
}

// The option time_step counts, not the time step of the model.
TEST_P(RotationWarning, TheStepOfTheOptionCounts) {
  for (const double time_step : {0.0005, 0.01}) {
    Scene scene(
        support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")",
                           "<worldbody><body><joint/><geom size='0.1'/></body></worldbody>"));
    const double half_turn = std::numbers::pi / time_step;  // per step [rad/s]
    for (const double share : {0.9, 1.1}) {
      StepOptions options = make_options(GetParam());
      options.time_step = time_step;
      scene.data->qvel[0] = share * half_turn;
      Stepper stepper(scene.model, options);
      EXPECT_EQ(stepper.step(scene.data, 1).warnings[kKind].count, share > 1) << time_step;
    }
  }
}

TEST_P(RotationWarning, FastTranslationIsSilent) {
  EXPECT_EQ(step(GetParam(), R"(<joint name="j" type="slide"/>)", 0, 10 * kHalfTurn).count, 0);
  EXPECT_EQ(step(GetParam(), R"(<freejoint name="j"/>)", 2, 10 * kHalfTurn).count, 0);
}

// Two hinges of a gimbal 1.6e-5 rad from its lock turn against each other with hardly any energy.
TEST_P(RotationWarning, AMotionNearAGimbalLockIsNotSilent) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(<worldbody><body>
<joint axis="0 0 1"/><joint axis="0 1 0"/><joint axis="1 0 0"/>
<geom type="box" size="0.1 0.2 0.3" mass="1"/></body></worldbody>)"));
  scene.data->qpos[1] = 1.57078;
  scene.data->qvel[0] = scene.data->qvel[2] = 5000;
  Stepper stepper(scene.model, make_options(GetParam()));
  EXPECT_EQ(stepper.step(scene.data, 1).warnings[kKind].count, 2);
}

INSTANTIATE_TEST_SUITE_P(Models, RotationWarning,
                         testing::Values(ContactModel::coulomb, ContactModel::no_slip,
                                         ContactModel::drumwright_shell, ContactModel::tamsi),
                         model_name);

}  // namespace
}  // namespace stiction::sim::rotation_warning_test
