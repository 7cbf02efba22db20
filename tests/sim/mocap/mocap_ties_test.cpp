// Bodies that a connect, weld or rope ties to a moving mocap body follow it at its speed.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/integrator_cases.hpp"

namespace stiction::sim::mocap_ties_test {
namespace {

using support::Scene;

constexpr double kStep = 0.002;  // [s]

/// Returns all cases in which mocap bodies have velocities.
std::vector<IntegratorCase> make_moving_cases() {
  std::vector<IntegratorCase> cases = make_integrator_cases();
  std::erase_if(cases, [](const IntegratorCase& c) { return contact::traits(c.model).is_mj_step; });
  return cases;
}

std::vector<IntegratorCase> make_cases() {
  std::vector<IntegratorCase> cases = make_moving_cases();
  std::erase_if(cases, [](const IntegratorCase& c) { return c.integrator == Integrator::rk4; });
  return cases;
}

class MocapTie : public testing::TestWithParam<IntegratorCase> {
 protected:
  StepOptions options() const { return make_options_of(GetParam()); }
  bool is_rigid() const { return contact::traits(GetParam().model).is_rigid; }
};
INSTANTIATE_TEST_SUITE_P(Cases, MocapTie, testing::ValuesIn(make_cases()), name_case);

Scene make_scene(const std::string& equality, const char* hand = "<freejoint/>") {
  return Scene(support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0")",
      "<worldbody><body name=\"m\" mocap=\"true\"/><body name=\"h\">" + std::string(hand) +
          "<geom type=\"box\" size=\"0.05 0.04 0.03\" mass=\"1\"/></body></worldbody><equality>" +
          equality + "</equality>"));
}

constexpr const char* kTies[] = {R"(<weld body1="m" body2="h"/>)", R"(<weld body1="h" body2="m"/>)",
                                 R"(<connect body1="m" body2="h" anchor="0 0 0"/>)",
                                 R"(<connect body1="h" body2="m" anchor="0 0 0"/>)"};

/// Moves the mocap body along x and turns it about z, from a time at which it rests at the origin.
void place(Scene* scene, double speed, double spin) {
  const double t = std::max(0.0, scene->data->time - 0.01);
  scene->data->mocap_pos[0] = speed * t;
  scene->data->mocap_quat[0] = std::cos(0.5 * spin * t);
  scene->data->mocap_quat[3] = std::sin(0.5 * spin * t);
}

TEST_P(MocapTie, FollowsAtItsSpeed) {
  for (const char* tie : kTies) {
    for (const double speed : {0.05, 0.5, 3.0}) {
      SCOPED_TRACE(std::string(tie) + " at " + std::to_string(speed));
      Scene scene = make_scene(tie);
      Stepper stepper(scene.model, options());
      for (int i = 0; i < 505; ++i) {
        place(&scene, speed, 0);
        const StepReport& report = stepper.step(scene.data);
        ASSERT_TRUE(report.ok()) << report.message;
        if (i > 10) {  // the first displacement may be a jump, which gives a warning
          EXPECT_EQ(report.num_warnings, 0) << report.warning;
        }
      }
      // The pose is that of the start of the last step. Rigid models correct the overlap of the
      // first two steps at up to 0.1 m/s, and then a tenth of the rest in each step. Springs have
      // forgotten it after 50 time constants of MuJoCo's solref.
      const double lag = scene.data->mocap_pos[0] + speed * kStep - scene.data->qpos[0];
      EXPECT_NEAR(lag, 0, 1e-6);
      EXPECT_NEAR(scene.data->qvel[0], speed, 1e-5);
    }
  }
}

TEST_P(MocapTie, TurnsWithAWeld) {
  for (const char* tie : {kTies[0], kTies[1]}) {
    SCOPED_TRACE(tie);
    constexpr double kSpin = 2;
    Scene scene = make_scene(tie);
    Stepper stepper(scene.model, options());
    for (int i = 0; i < 505; ++i) {
      place(&scene, 0, kSpin);
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    }
    const double angle = kSpin * (scene.data->time - 0.01);
    const double* q = scene.data->qpos + 3;
    EXPECT_NEAR(2 * std::atan2(q[3], q[0]), angle, 1e-5);
    EXPECT_NEAR(scene.data->qvel[5], kSpin, 1e-4);
  }
}

TEST_P(MocapTie, IsCarriedRoundAtALever) {
  constexpr double kSpin = 2, kLever = 0.3;
  for (const char* tie : {R"(<weld body1="m" body2="h" relpose="0.3 0 0 1 0 0 0"/>)",
                          R"(<weld body1="h" body2="m" relpose="-0.3 0 0 1 0 0 0"/>)"}) {
    SCOPED_TRACE(tie);
    Scene scene = make_scene(tie);
    scene.data->qpos[0] = kLever;
    Stepper stepper(scene.model, options());
    for (int i = 0; i < 505; ++i) {
      place(&scene, 0, kSpin);
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    }
    // The end of a step's chord is off the circle by w^2 r dt^2 / 2, which a rigid model corrects
    // by a tenth in each step. The springs of compliant models need an extension for the
    // centripetal acceleration: w^2 r over MuJoCo's K I = 2500 / s^2 is 0.5 mm, times 1 or 6 for
    // the anchors.
    const double angle = kSpin * (scene.data->time - 0.01);
    const double error = std::hypot(scene.data->qpos[0] - kLever * std::cos(angle),
                                    scene.data->qpos[1] - kLever * std::sin(angle));
    const double chord = 0.5 * kSpin * kSpin * kLever * kStep * kStep;
    EXPECT_LT(error, is_rigid() ? 12 * chord : 0.0035);
  }
}

TEST_P(MocapTie, MovesAsSeenFromTheMocapBody) {
  // A hinged arm is welded to the mocap body, at rest in its frame; a free load hangs on a rope.
  constexpr const char* kBodies =
      R"(<worldbody><body name="m" mocap="true"><geom size="0.01" contype="0" conaffinity="0"/><site name="palm"/></body>
<body name="h" pos="0.01 0.02 0"><freejoint/><geom type="box" size="0.05 0.04 0.03" mass="1"/>
  <body pos="0 0.1 0"><joint name="hinge" axis="0 0 1" damping="0.02"/><geom type="capsule" fromto="0 0 0 0 0.1 0" size="0.02" mass="0.3"/></body></body>
<body name="load" pos="-0.3 0.05 0"><freejoint/><geom size="0.04" mass="0.5"/><site name="hook" pos="0 0.04 0"/></body></worldbody>
<tendon><spatial limited="true" range="0 0.35"><site site="palm"/><site site="hook"/></spatial></tendon>
<equality><weld body1="m" body2="h"/></equality>)";
  const bool depends_on_frame =
      contact::traits(GetParam().model).tangents == contact::TangentPolicy::kLeastEnergy;
  if (depends_on_frame) GTEST_SKIP() << "least energy depends on the frame";
  const auto simulate = [&](double speed, double frame) {
    Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", kBodies));
    scene.data->qvel[0] = scene.data->qvel[7] = speed - frame;
    scene.data->qvel[6] = 1;
    scene.data->qvel[7] -= 0.3;  // the load moves away until the rope is taut
    Stepper stepper(scene.model, options());
    std::vector<double> out;
    for (int i = 0; i < 200; ++i) {
      scene.data->mocap_pos[0] = (speed - frame) * scene.data->time;
      scene.data->eq_active[0] = i >= 3;  // the motion is known from the third step on
      const StepReport& report = stepper.step(scene.data);
      EXPECT_TRUE(report.ok()) << report.message;
      for (int k = 0; k < scene->nq; ++k)
        out.push_back(scene.data->qpos[k] -
                      (k == 0 || k == 8 ? (speed - frame) * scene.data->time : 0));
    }
    return out;
  };
  const auto moving = simulate(0.7, 0), resting = simulate(0.7, 0.7);
  ASSERT_EQ(moving.size(), resting.size());
  double largest = 0;
  for (std::size_t i = 0; i < moving.size(); ++i)
    largest = std::max(largest, std::abs(moving[i] - resting[i]));
  EXPECT_LT(largest, 1e-5);
}

TEST_P(MocapTie, StopsAtATableAndComesBack) {
  // The mocap body drives the hand into a wall and leaves it again.
  Scene scene(support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0")",
      R"(<worldbody><body name="m" mocap="true"/><body name="h"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>
<geom type="box" size="0.05 1 1" pos="0.12 0 0"/></worldbody><equality><weld body1="m" body2="h"/></equality>)"));
  Stepper stepper(scene.model, options());
  double furthest = 0;
  for (int i = 0; i < 600; ++i) {
    const double t = i * kStep;
    scene.data->mocap_pos[0] = 0.3 * (t < 0.2 ? t : std::max(0.0, 0.4 - t));
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
    furthest = std::max(furthest, scene.data->qpos[0]);
    EXPECT_LT(mju_norm3(scene.data->qvel), 2) << i;
  }
  EXPECT_LT(furthest, is_rigid() ? 0.021 : 0.03);
  EXPECT_NEAR(scene.data->qpos[0], 0, 1e-4);
}

TEST_P(MocapTie, DrivesAlongATableWhileAnotherMocapBodyJams) {
  // A relaxed conflict is a solution, so the hand on the table goes on when the other mocap body
  // gives way.
  Scene scene(support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0")",
      R"(<worldbody><body name="m" mocap="true"/><body name="h"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1" condim="1"/></body>
<geom type="box" size="0.05 1 1" pos="0.12 0 0" condim="1"/>
<body mocap="true" pos="-0.11 0 5"><geom type="box" size="0.05 0.05 0.05" condim="1"/></body>
<body pos="0 0 5"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1" condim="1"/></body>
<geom type="box" size="0.05 1 1" pos="0.12 0 5" condim="1"/></worldbody>
<equality><weld body1="m" body2="h"/></equality>)"));
  constexpr double kSpeed = 0.3;
  Stepper stepper(scene.model, options());
  int num_conflicts = 0;
  for (int i = 0; i < 200; ++i) {
    const double distance = kSpeed * i * kStep;
    scene.data->mocap_pos[0] = std::min(distance, 0.03);
    scene.data->mocap_pos[1] = distance;
    scene.data->mocap_pos[3] = -0.11 + std::max(0.0, distance - 0.06);
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
    num_conflicts += report.warnings[static_cast<int>(WarningKind::conflict)].count;
    if (i > 100) {
      EXPECT_NEAR(scene.data->qvel[1], kSpeed, 1e-3) << i;
    }
  }
  if (is_rigid()) {
    EXPECT_GT(num_conflicts, 20);
  }
}

/// A body on a tendon of a mocap body.
Scene make_tendon_scene(const std::string& tendon_attributes, const char* bodies = "",
                        const char* equality = "") {
  return Scene(support::make_mjcf(
      R"(timestep="0.002" gravity="0 0 0")",
      R"(<worldbody><body name="m" mocap="true" pos="0.35 0 0"><site name="palm"/></body>
<body name="h"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/><site name="hook"/></body>)" +
          std::string(bodies) + R"(</worldbody><tendon><spatial name="rope" )" + tendon_attributes +
          R"(><site site="palm"/><site site="hook"/></spatial></tendon><equality>)" + equality +
          "</equality>"));
}

TEST_P(MocapTie, DrivesATendonWithDryFriction) {
  // The tendon pulls with 20 N until the body has the speed of the mocap body.
  for (const double speed : {0.05, 0.5, 3.0}) {
    SCOPED_TRACE(speed);
    Scene scene = make_tendon_scene(R"(frictionloss="20")");
    Stepper stepper(scene.model, options());
    for (int i = 0; i < 150; ++i) {
      scene.data->mocap_pos[0] = 0.35 + speed * i * kStep;
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      EXPECT_EQ(report.num_warnings, 0) << report.warning << " in step " << i;
    }
    EXPECT_NEAR(scene.data->qvel[0], speed, 0.01 * speed);
  }
}

class MocapRope : public testing::TestWithParam<IntegratorCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, MocapRope, testing::ValuesIn(make_moving_cases()), name_case);

TEST_P(MocapRope, JamsABodyAgainstAWall) {
  for (const char* equality : {"", R"(<tendon tendon1="rope"/>)"}) {
    SCOPED_TRACE(equality);
    Scene scene =
        make_tendon_scene(*equality ? "" : R"(limited="true" range="0 0.36")",
                          R"(<geom type="box" size="0.05 1 1" pos="0.12 0 0"/>)", equality);
    Stepper stepper(scene.model, make_options_of(GetParam()));
    int num_warnings = 0;
    for (int i = 0; i < 200; ++i) {
      scene.data->mocap_pos[0] = 0.35 + 0.3 * i * kStep;
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
      num_warnings += report.warnings[static_cast<int>(WarningKind::conflict)].count;
      EXPECT_LT(mju_norm3(scene.data->qvel), 1);
    }
    if (contact::traits(GetParam().model).is_rigid) {
      EXPECT_GT(num_warnings, 0);
    }
  }
}

TEST(MocapTies, AreWarnedOfUnderRk4) {
  std::vector<std::unique_ptr<Scene>> scenes;
  for (const char* tie : kTies) scenes.push_back(std::make_unique<Scene>(make_scene(tie)));
  scenes.push_back(std::make_unique<Scene>(make_tendon_scene(R"(limited="true" range="0 0.36")")));
  scenes.push_back(
      std::make_unique<Scene>(make_tendon_scene("", "", R"(<tendon tendon1="rope"/>)")));
  for (const std::unique_ptr<Scene>& next : scenes) {
    Scene& scene = *next;
    const double start = scene.data->mocap_pos[0];
    StepOptions options = make_options(contact::ContactModel::viscous);
    options.integrator = Integrator::rk4;
    Stepper stepper(scene.model, options);
    int num_warnings = 0;
    for (int i = 0; i < 40; ++i) {
      place(&scene, 1, 0);
      scene.data->mocap_pos[0] += start;
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      EXPECT_EQ(report.statistics.num_halvings, 0) << "in step " << i;
      num_warnings += report.warnings[static_cast<int>(WarningKind::conflict)].count;
    }
    EXPECT_GE(num_warnings, 30);
  }
}

}  // namespace
}  // namespace stiction::sim::mocap_ties_test
