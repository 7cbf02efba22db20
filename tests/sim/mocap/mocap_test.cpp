// Mocap bodies that the caller moves push, lift and drag others at their own velocity.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/integrator_cases.hpp"
#include "sim/step/failing_step.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"

namespace stiction::sim::mocap_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kStep = 0.002;  // [s]

std::vector<IntegratorCase> make_cases() {
  std::vector<IntegratorCase> cases = make_integrator_cases();
  std::erase_if(cases, [](const IntegratorCase& c) { return contact::traits(c.model).is_mj_step; });
  return cases;
}

class MocapBody : public testing::TestWithParam<IntegratorCase> {
 protected:
  bool is_rigid() const { return contact::traits(GetParam().model).is_rigid; }
  StepOptions options() const { return make_options_of(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Cases, MocapBody, testing::ValuesIn(make_cases()), name_case);

Scene make_scene(const std::string& bodies, const char* gravity = "0 0 0") {
  return Scene(support::make_mjcf(R"(timestep="0.002" gravity=")" + std::string(gravity) + "\"",
                                  "<worldbody>" + bodies + "</worldbody>"));
}

constexpr double kApproach = 0.0703;  // time for which a mocap body moves before it may touch [s]

/// Moves the first mocap body at a constant velocity. It has its pose in the model at kApproach.
/// @param frame velocity of the frame in which the scene is seen
void place(Scene* scene, const std::array<double, 3>& velocity,
           const std::array<double, 3>& frame = {}) {
  for (int i = 0; i < 3; ++i)
    scene->data->mocap_pos[i] = scene->model->body_pos[3 + i] - velocity[i] * kApproach +
                                (velocity[i] - frame[i]) * scene->data->time;
}

// The mocap body is body 1 of each scene.
struct PushedScene {
  const char* name;
  bool has_joints;
  const char* bodies;
};
constexpr PushedScene kPushed[] = {
    {"box", false,
     R"(<body mocap="true" pos="-0.13 0.02 0.01"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.04 0.03" mass="1"/></body>)"},
    {"ball", false,
     R"(<body mocap="true" pos="-0.13 0.02 0.01"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom size="0.05" mass="1"/></body>)"},
    {"articulated", true,
     R"(<body mocap="true" pos="-0.13 0.03 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.04 0.03" mass="1"/>
<body pos="0 0.05 0"><joint axis="0 0 1" damping="0.01"/><geom type="capsule" fromto="0 0 0 0 0.1 0" size="0.02" mass="0.3"/></body></body>)"},
    {"finger", true, R"(<body mocap="true" pos="-0.3 0 0"><geom type="box" size="0.05 0.05 0.05"/>
<body pos="0.05 0 0"><joint axis="0 0 1" stiffness="5" damping="0.1"/><geom type="capsule" fromto="0.03 0 0 0.12 0.01 0" size="0.02" mass="0.2"/></body></body>
<body><freejoint/><geom type="box" size="0.05 0.04 0.03" mass="1"/></body>)"},
};

/// True if a model's motion depends on the frame from which it is seen: least energy does, if
/// several bodies or joints share it.
bool depends_on_frame(ContactModel model) {
  return contact::traits(model).tangents == contact::TangentPolicy::kLeastEnergy;
}

/// Runs a scene in which a mocap body moves at `velocity` and the other bodies are at rest, seen
/// from a frame that moves at `frame`. Returns the positions in the frame of the mocap body after
/// each step.
std::vector<double> run_in_frame(const char* bodies, const StepOptions& options,
                                 const std::array<double, 3>& velocity,
                                 const std::array<double, 3>& frame, int num_steps,
                                 const plant::MaterialTable& materials = {}) {
  Scene scene = make_scene(bodies);
  mjData* d = scene.data;
  for (int joint = 0; joint < scene->njnt; ++joint)
    if (scene->jnt_type[joint] == mjJNT_FREE)
      mju_scl3(d->qvel + scene->jnt_dofadr[joint], frame.data(), -1);
  double relative[3];
  mju_sub3(relative, velocity.data(), frame.data());
  Stepper stepper(scene.model, options, materials);
  std::vector<double> out;
  for (int i = 0; i < num_steps; ++i) {
    place(&scene, velocity, frame);
    const StepReport& report = stepper.step(d);
    EXPECT_TRUE(report.ok()) << report.message << " at time " << d->time;
    if (!report.ok()) break;
    std::vector<double> q(d->qpos, d->qpos + scene->nq);
    for (int joint = 0; joint < scene->njnt; ++joint)
      if (scene->jnt_type[joint] == mjJNT_FREE)
        mju_addToScl3(q.data() + scene->jnt_qposadr[joint], relative, -d->time);
    out.insert(out.end(), q.begin(), q.end());
  }
  return out;
}

double find_largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST_P(MocapBody, PushesAsAWallThatBodiesHitDoes) {
  // Rounding errors give 1e-11. A model of least energy has friction that depends on the frame by
  // the tolerance of its rows; 3e-8 was measured.
  const double tolerance = depends_on_frame(GetParam().model) ? 1e-6 : 1e-9;
  for (const PushedScene& pushed : kPushed) {
    if (depends_on_frame(GetParam().model) && pushed.has_joints) continue;
    for (const double speed : {0.05, 0.3, 3.0}) {
      SCOPED_TRACE(std::string(pushed.name) + " at " + std::to_string(speed));
      const std::array<double, 3> velocity = {speed, 0, 0};
      const int num_steps = static_cast<int>((0.04 / speed + kApproach) / kStep) + 20;
      const auto moving = run_in_frame(pushed.bodies, options(), velocity, {}, num_steps);
      const auto wall = run_in_frame(pushed.bodies, options(), velocity, velocity, num_steps);
      EXPECT_LT(find_largest_difference(moving, wall), tolerance);
    }
  }
}

TEST_P(MocapBody, TouchesARestingBodyAtRoundOff) {
  // The gap is a whole number of steps, so that the bodies touch at the end of one, by round-off.
  const std::array<double, 3> velocity = {0.3, 0, 0};
  StepOptions with_law = options();
  for (const auto law : {contact::FrictionRegularizationKind::soft,
                         contact::FrictionRegularizationKind::automatic}) {
    with_law.parameters.friction_law = law;
    for (const double offset : {0.06, 0.07, 0.08}) {
      Scene scene = make_scene(kPushed[0].bodies);
      Stepper stepper(scene.model, with_law);
      for (int i = 0; i < 90; ++i) {
        place(&scene, velocity);
        scene.data->mocap_pos[0] += 0.3 * (kApproach - offset);
        ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene)) << offset;
      }
    }
  }
}

TEST_P(MocapBody, TouchesAnEllipsoidAtRoundOff) {
  // The impulses of a grazing touch are rounding errors of the momentum that the pusher sees.
  for (const double speed : {0.03 + 2 * 0.47 / 59, 0.03 + 5 * 0.47 / 59, 0.03 + 6 * 0.47 / 59}) {
    SCOPED_TRACE(speed);
    Scene scene(support::make_mjcf(R"(timestep="0.01" gravity="0 0 0")", R"(<worldbody>
<body mocap="true" pos="-0.3 0 0"><geom type="box" size="0.05 0.2 0.2" friction="0.5"/></body>
<body pos="0 0.013 0.02" euler="10 20 15"><freejoint/><geom type="ellipsoid" size="0.03 0.05 0.06" mass="1" friction="0.5"/></body></worldbody>)"));
    Stepper stepper(scene.model, options());
    for (int i = 0; i < static_cast<int>(0.3 / speed / 0.01); ++i) {
      scene.data->mocap_pos[0] = -0.3 + speed * i * 0.01;
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    }
    EXPECT_GT(scene.data->qvel[0], 0.5 * speed);
  }
}

TEST_P(MocapBody, PushesPatchesAsAWallDoes) {
  if (!contact::traits(GetParam().model).takes_patches) GTEST_SKIP();
  plant::MaterialTable materials =
      plant::make_default_materials(make_scene(kPushed[0].bodies).model);
  for (plant::Material& material : materials.geoms) material.hydroelastic_modulus = 1e6;
  for (const double speed : {0.05, 0.3}) {
    SCOPED_TRACE(speed);
    const std::array<double, 3> velocity = {speed, 0, 0};
    const int num_steps = static_cast<int>((0.04 / speed + kApproach) / kStep) + 20;
    const auto moving =
        run_in_frame(kPushed[0].bodies, options(), velocity, {}, num_steps, materials);
    const auto wall =
        run_in_frame(kPushed[0].bodies, options(), velocity, velocity, num_steps, materials);
    EXPECT_LT(find_largest_difference(moving, wall), 1e-9);
  }
}

TEST_P(MocapBody, GivesABodyItsSpeedByTheImpulseOfTheContact) {
  for (const double speed : {0.05, 0.3, 3.0}) {
    SCOPED_TRACE(speed);
    Scene scene = make_scene(R"(
<body mocap="true" pos="-0.11 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="2"/></body>)");
    Stepper stepper(scene.model, options());
    const std::array<double, 3> velocity = {speed, 0, 0};
    double impulse = 0, deepest = 0;
    for (int i = 0; i < (0.02 / speed + kApproach) / kStep + 100; ++i) {
      place(&scene, velocity);
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      EXPECT_EQ(report.num_warnings, 0);
      for (const double gamma : report.contacts.normal_impulse) impulse += gamma;
      const double face = scene.data->mocap_pos[0] + speed * kStep + 0.05;
      deepest = std::max(deepest, face - (scene.data->qpos[0] - 0.05));
    }
    // Compliant surfaces bounce by up to 1.1%. Rigid ones may correct an overlap when they touch,
    // at
    // max_correction_speed.
    const double v = scene.data->qvel[0], most = is_rigid() ? speed + 0.1 : 1.02 * speed;
    // rk4 does not report the impulses of impacts, which are between its parts.
    if (GetParam().integrator != Integrator::rk4) {
      EXPECT_NEAR(impulse, 2 * v, 1e-4 * speed);
    }
    EXPECT_GT(v, 0.98 * speed);
    EXPECT_LT(v, most);
    EXPECT_LT(deepest, 2 * speed * kStep);
  }
}

TEST_P(MocapBody, OverlapsByNoMoreThanTwoStepsIfItStartsAtATouch) {
  for (const double speed : {0.05, 0.3, 3.0}) {
    SCOPED_TRACE(speed);
    Scene scene = make_scene(R"(
<body mocap="true" pos="-0.1 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="2"/></body>)");
    Stepper stepper(scene.model, options());
    double deepest = 0;
    for (int i = 0; i < 50; ++i) {
      scene.data->mocap_pos[0] = -0.1 + speed * scene.data->time;
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      const double face = -0.1 + speed * scene.data->time + 0.05;
      deepest = std::max(deepest, face - (scene.data->qpos[0] - 0.05));
    }
    EXPECT_LT(deepest, 2.05 * speed * kStep);
    EXPECT_GT(scene.data->qvel[0], 0.98 * speed);
    EXPECT_LT(scene.data->qvel[0], 1.05 * speed + 0.12);  // max_correction_speed is 0.1 m/s
  }
}

TEST_P(MocapBody, ThatTurnsThrowsABallAlongItself) {
  // In the frame of the paddle, a ball without friction at a distance y from the plane through the
  // axis has x-dot-dot = w^2 x, and starts with x-dot = w y after the impact.
  constexpr double kSpin = 3, x0 = 0.2, y = 0.06;
  Scene scene = make_scene(R"(
<body mocap="true"><geom type="box" size="1 0.01 0.1" condim="1"/></body>
<body pos="0.2 0.06 0"><freejoint/><geom size="0.05" mass="1" condim="1"/></body>)");
  Stepper stepper(scene.model, options());
  const auto calc_angle = [&] { return kSpin * (scene.data->time - 0.0203); };
  for (int i = 0; i < 100; ++i) {
    scene.data->mocap_quat[0] = std::cos(0.5 * calc_angle());
    scene.data->mocap_quat[3] = std::sin(0.5 * calc_angle());
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  }
  const double angle = calc_angle(), *p = scene.data->qpos;
  const double along = p[0] * std::cos(angle) + p[1] * std::sin(angle);
  const double across = p[1] * std::cos(angle) - p[0] * std::sin(angle);
  EXPECT_NEAR(along, x0 * std::cosh(angle) + y * std::sinh(angle), 1e-3);
  EXPECT_NEAR(across, y, 2e-4);
}

TEST_P(MocapBody, LiftsALoad) {
  Scene scene = make_scene(R"(
<body mocap="true"><geom type="box" size="0.2 0.2 0.05"/></body>
<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="2"/></body>)",
                           "0 0 -10");
  Stepper stepper(scene.model, options());
  const std::array<double, 3> velocity = {0, 0, 0.3};
  double impulse = 0;
  for (int i = 0; i < 300; ++i) {
    place(&scene, velocity);
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    if (i < 250) continue;
    for (const double gamma : report.contacts.normal_impulse) impulse += gamma;
  }
  EXPECT_NEAR(impulse / (50 * kStep), 20, 1e-3);
  EXPECT_NEAR(scene.data->qvel[2], 0.3, 1e-6);
  EXPECT_NEAR(scene.data->qpos[2], 0.1 + 0.3 * (scene.data->time - kApproach), 1e-4);
}

TEST_P(MocapBody, TurnsALoadThatItCarries) {
  if (contact::traits(GetParam().model).tangents == contact::TangentPolicy::kViscous)
    GTEST_SKIP() << "viscous friction lags";
  Scene scene = make_scene(R"(
<body mocap="true"><geom type="cylinder" size="0.3 0.05"/></body>
<body pos="0.1 0 0.1"><freejoint/><geom type="box" size="0.03 0.03 0.05" mass="1"/></body>)",
                           "0 0 -10");
  Stepper stepper(scene.model, options());
  for (int i = 0; i < 300; ++i) {
    scene.data->mocap_quat[0] = std::cos(scene.data->time);
    scene.data->mocap_quat[3] = std::sin(scene.data->time);
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  }
  // The load turns with the table, at 2 rad/s, but starts two steps later. The sum of chords along
  // its circle, and the start from rest, bring it out by up to 2%.
  const double angle = 2 * scene.data->time, *p = scene.data->qpos;
  EXPECT_NEAR(std::hypot(p[0], p[1]), 0.1, 0.003);
  EXPECT_NEAR(p[1] * std::cos(angle) - p[0] * std::sin(angle), 0, 0.005);
  EXPECT_NEAR(scene.data->qvel[5], 2, 1e-3);
}

TEST_P(MocapBody, ThatJumpsThrowsNothing) {
  // Jumps at the same intervals would be a motion.
  for (const auto& intervals : {std::array{2, 3, 5}, std::array{20, 13, 31}}) {
    Scene scene = make_scene(R"(
<body mocap="true" pos="-0.2 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>)");
    Stepper stepper(scene.model, options());
    double fastest = 0;
    for (int i = 0, jump = 0, next = 0; i < 200; ++i) {
      if (i == next) {
        scene.data->mocap_pos[0] += 0.06;
        next += intervals[jump++ % 3];
      }
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene)) << i;
      fastest = std::max(fastest, mju_norm3(scene.data->qvel));
    }
    EXPECT_LT(fastest, 0.1 + 1e-6) << "faster than max_correction_speed";
  }
}

TEST_P(MocapBody, JamsABodyAgainstAWall) {
  Scene scene = make_scene(R"(
<body mocap="true" pos="-0.11 0 0.051"><geom type="box" size="0.05 0.05 0.05"/></body>
<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>
<geom type="box" size="0.05 1 1" pos="0.12 0 0"/><geom type="plane" size="1 1 1"/>)",
                           "0 0 -10");
  Stepper stepper(scene.model, options());
  const std::array<double, 3> velocity = {0.3, 0, 0};
  double fastest = 0;
  int num_warnings = 0;
  for (int i = 0; i < 200; ++i) {
    place(&scene, velocity);
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
    num_warnings += report.num_warnings;
    fastest = std::max(fastest, mju_norm3(scene.data->qvel));
  }
  EXPECT_GT(num_warnings, 0);
  EXPECT_LT(fastest, 0.45);
}

/// A step that is taken again because a mocap body jams reports only the warnings of the last
/// attempt.
TEST_P(MocapBody, ThatJamsLeavesNoWarningOfAFailedAttempt) {
  if (GetParam().integrator == Integrator::rk4) GTEST_SKIP() << "calls the callback in each stage";
  Scene scene = make_scene(R"(
<body mocap="true" pos="-0.1 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>
<geom type="box" size="0.05 1 1" pos="0.1 0 0"/>)");
  Stepper stepper(scene.model, options());
  mjcb_control = [](const mjModel*, mjData*) { mju_warning("of an attempt"); };
  int num_jams = 0;
  for (int i = 0; i < 50; ++i) {
    scene.data->mocap_pos[0] = -0.1 + 1e-4 * i;
    const StepReport& report = stepper.step(scene.data, 2);
    EXPECT_TRUE(report.ok()) << report.message << " in step " << i;
    num_jams += report.warnings[static_cast<int>(WarningKind::conflict)].count > 0;
    EXPECT_EQ(report.warnings[static_cast<int>(WarningKind::mujoco)].count, 2) << i;
    int sum = 0;
    for (const WarningReport& warnings : report.warnings) sum += warnings.count;
    EXPECT_EQ(report.num_warnings, sum);
  }
  mjcb_control = nullptr;
  EXPECT_EQ(num_jams > 0, is_rigid());
}

TEST_P(MocapBody, ThatStopsInAJamLeavesTheBodyAtRest) {
  // The mocap body stops with an overlap of 15 mm. A static jam is a conflict of rigid models,
  // which keep the overlaps, and no failure.
  Scene scene = make_scene(R"(
<body mocap="true" pos="-0.11 0 0.051"><geom type="box" size="0.05 0.05 0.05"/></body>
<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>
<geom type="box" size="0.05 1 1" pos="0.12 0 0"/><geom type="plane" size="1 1 1"/>)",
                           "0 0 -10");
  Stepper stepper(scene.model, options());
  for (int i = 0; i < 200; ++i) {
    scene.data->mocap_pos[0] = -0.11 + std::min(0.045, 0.3 * scene.data->time);
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
    if (i < 150) continue;
    if (is_rigid() && GetParam().integrator != Integrator::rk4) {  // rk4 corrects no overlaps
      EXPECT_GT(report.warnings[static_cast<int>(WarningKind::conflict)].count, 0);
    }
    EXPECT_LT(mju_norm3(scene.data->qvel), is_rigid() ? 1e-6 : 0.01);
  }
}

TEST_P(MocapBody, DragsABodyThatItCannotPush) {
  // Two plates hold a box and lift it. The box cannot yield to the plate that closes in, but that
  // must not stop the plates in the other directions.
  const contact::ContactModelTraits& model = contact::traits(GetParam().model);
  if (is_rigid() && model.tangents != contact::TangentPolicy::kBilateral)
    GTEST_SKIP() << "the normal forces of a jam are 0, and so is friction";
  if (GetParam().integrator != Integrator::euler) GTEST_SKIP() << "mocap bodies in a jam rest";
  for (const double squeeze : {1e-6, 1e-4, 5e-4}) {
    SCOPED_TRACE(squeeze);
    Scene scene = make_scene(R"(
<body mocap="true" pos="-0.1 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body mocap="true" pos="0.1 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>)",
                             "0 0 -10");
    Stepper stepper(scene.model, options());
    for (int i = 0; i < 400; ++i) {
      const double t = i * kStep, g = std::min(squeeze, squeeze * t / 0.02);
      for (const int side : {0, 1}) {
        mjtNum* p = scene.data->mocap_pos + 3 * side;
        p[0] = side == 0 ? -0.1 + g : 0.1 - g;
        p[1] = 0.05 * std::max(0.0, t - 0.1);
        p[2] = 0.1 * std::max(0.0, t - 0.1);
      }
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene)) << i;
    }
    // Near-rigid friction creeps by up to a hundredth of the distance.
    EXPECT_NEAR(scene.data->qpos[1], scene.data->mocap_pos[1], 1e-3);
    EXPECT_NEAR(scene.data->qpos[2], scene.data->mocap_pos[2], 1e-3);
  }
}

TEST_P(MocapBody, HasTheSameVelocityAfterACheckpointAndAFailureAndAForward) {
  Scene scene = make_scene(kPushed[3].bodies), copy = make_scene(kPushed[3].bodies);
  Stepper stepper(scene.model, options()), other(copy.model, options());
  const std::array<double, 3> velocity = {1, 0, 0};
  const auto step = [&](Scene* of, Stepper* by) {
    place(of, velocity);
    return by->step(of->data).ok();
  };
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(step(&scene, &stepper));
    if (i % 20 == 0) {
      copy.set_state(scene.state());
      other.set_state(stepper.get_state());
      continue;
    }
    // The copy computes forces and fails before each step.
    place(&copy, velocity);
    ASSERT_TRUE(other.forward(copy.data).ok());
    fail_within_step(&other, &copy);
    ASSERT_TRUE(step(&copy, &other));
    ASSERT_EQ(scene.state(), copy.state()) << "step " << i;
  }
  EXPECT_EQ(stepper.get_state(), other.get_state());
}

TEST_P(MocapBody, RestsAfterAResetAndForOtherData) {
  constexpr const char* kBodies = R"(
<body mocap="true" pos="-0.11 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>)";
  Scene scene = make_scene(kBodies), other(scene);
  Stepper stepper(scene.model, options());
  const std::array<double, 3> velocity = {3, 0, 0};
  for (int i = 0; i < 5; ++i) {
    place(&scene, velocity);
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  }
  other.data->time = scene.data->time;
  for (Scene* next : {&other, &scene}) {
    if (next == &scene) mj_resetData(scene.model, scene.data);
    next->data->mocap_pos[0] = -0.102;  // 3 m/s would reach the body in this step
    ASSERT_TRUE(stepper.step(next->data).ok());
    EXPECT_LT(mju_norm3(next->data->qvel), 1e-9);
  }
}

}  // namespace
}  // namespace stiction::sim::mocap_test
