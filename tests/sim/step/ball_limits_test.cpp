// Limits of ball joints near the angle 0, where the axis of the angle is that of the motion.
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "sim/step/stepping.hpp"
#include "support/trials.hpp"

namespace stiction::sim::ball_limits_test {
namespace {

using contact::ContactModel;
using support::Scene;
using Vector = Eigen::Vector3d;

/// Returns a sphere on a ball joint, without gravity.
/// @param range largest angle [rad]
Scene make_ball(double range, double margin) {
  char text[512];
  std::snprintf(text, sizeof text,
                R"(<mujoco><compiler angle="radian"/><option timestep="0.01" gravity="0 0 0"/>
<worldbody><body><joint name="j" type="ball" limited="true" range="0 %g" margin="%g"/>
<geom size="0.1" mass="1"/></body></worldbody></mujoco>)",
                range, margin);
  return Scene(text);
}

/// Returns velocities [rad/s] in all directions.
std::vector<Vector> make_velocities() {
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  std::vector<Vector> out = {Vector::UnitX(), -Vector::UnitX()};
  for (int i = 0; i < support::num_trials(20); ++i) {
    Vector direction;
    for (double& x : direction) x = normal(rng);
    out.push_back(direction.normalized());
  }
  for (Vector& v : out) v *= 30;
  return out;
}

class BallLimits : public testing::TestWithParam<contact::ContactModelTraits> {};

TEST_P(BallLimits, OfRigidModelsAreReachedInEveryDirection) {
  if (!GetParam().is_rigid) GTEST_SKIP() << "the limit is a spring";
  const double range = 0.1;
  for (const Vector& v : make_velocities()) {
    Scene scene = make_ball(range, 0);
    for (int k = 0; k < 3; ++k) scene.data->qvel[k] = v[k];
    StepReport report;
    Stepper(scene.model, make_options(GetParam().model)).step(scene.data, 1, &report);
    ASSERT_TRUE(report.ok()) << report.message;
    // The ball stops where its angle is the range. The least energy is that of a ball at rest.
    const double expected =
        GetParam().tangents == contact::TangentPolicy::kLeastEnergy ? 0 : range / 0.01;
    const Vector after(scene.data->qvel);
    EXPECT_NEAR(after.dot(v.normalized()), expected, 1e-5 * v.norm()) << v.transpose();
    EXPECT_LT(after.cross(v.normalized()).norm(), 1e-9) << v.transpose();
  }
}

TEST_P(BallLimits, ActAgainstTheMotion) {
  if (GetParam().is_mj_step) GTEST_SKIP() << "MuJoCo's row acts along x";
  for (const Vector& v : make_velocities()) {
    Scene scene = make_ball(0.01, 0.02);  // the limit acts at the angle 0 already
    for (int k = 0; k < 3; ++k) scene.data->qvel[k] = v[k];
    StepReport report;
    Stepper(scene.model, make_options(GetParam().model)).step(scene.data, 1, &report);
    ASSERT_TRUE(report.ok()) << report.message;
    const Vector after(scene.data->qvel);
    EXPECT_LT(after.dot(v.normalized()), 0.5 * v.norm()) << v.transpose();
    EXPECT_LT(after.cross(v.normalized()).norm(), 1e-9) << v.transpose();
  }
}

TEST_P(BallLimits, DoNotPushAJointAtRestAside) {
  if (GetParam().is_mj_step) GTEST_SKIP() << "MuJoCo's row acts along x";
  Scene scene = make_ball(0.01, 0.02);
  StepReport report;
  Stepper(scene.model, make_options(GetParam().model)).step(scene.data, 1, &report);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_EQ(Vector(scene.data->qvel), Vector::Zero());
}

INSTANTIATE_TEST_SUITE_P(Models, BallLimits, testing::ValuesIn(contact::contact_models()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stiction::sim::ball_limits_test
