// A controller sets the pose of a mocap body at every step, or only at every k-th one, and lets it
// jump now and then.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "sim/integrators/integrator_cases.hpp"
#include "sim/step/failing_step.hpp"

namespace stiction::sim::mocap_frames_test {
namespace {

using support::Scene;

constexpr double kStep = 0.002;  // [s]

std::vector<IntegratorCase> make_cases() {
  std::vector<IntegratorCase> cases = make_integrator_cases();
  std::erase_if(cases, [](const IntegratorCase& c) { return contact::traits(c.model).is_mj_step; });
  return cases;
}

class MocapFrames : public testing::TestWithParam<IntegratorCase> {
 protected:
  StepOptions options() const { return make_options_of(GetParam()); }
  /// rk4 corrects no overlaps, such as that of the first displacement.
  bool corrects_overlaps() const { return GetParam().integrator != Integrator::rk4; }
  bool is_rigid() const { return contact::traits(GetParam().model).is_rigid; }
};
INSTANTIATE_TEST_SUITE_P(Cases, MocapFrames, testing::ValuesIn(make_cases()), name_case);

Scene make_scene(const std::string& bodies, const char* gravity) {
  return Scene(support::make_mjcf(R"(timestep="0.002" gravity=")" + std::string(gravity) + "\"",
                                  "<worldbody>" + bodies + "</worldbody>"));
}

constexpr const char* kPusher = R"(
<body mocap="true" pos="-0.2 0 0"><geom type="box" size="0.05 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>)";

TEST_P(MocapFrames, PushAtTheMeanSpeed) {
  for (const int steps : {1, 2, 5, 10, 20}) {
    for (const double speed : {0.1, 0.3, 1.0}) {
      SCOPED_TRACE("every " + std::to_string(steps) + " steps at " + std::to_string(speed));
      Scene scene = make_scene(kPusher, "0 0 0");
      Stepper stepper(scene.model, options());
      const double frame = steps * kStep;
      // Steps of one call and single steps are the same.
      const bool is_one_call = steps % 2 == 0;
      double deepest = 0;
      for (int k = 0; k < static_cast<int>(0.1 / (speed * frame)) + 6; ++k) {
        scene.data->mocap_pos[0] =
            -0.1 - 2.5 * speed * frame + speed * k * frame;  // the motion is known
        const mjtNum given = scene.data->mocap_pos[0];
        for (int i = 0; i < (is_one_call ? 1 : steps); ++i) {
          const StepReport& report = stepper.step(scene.data, is_one_call ? steps : 1);
          ASSERT_TRUE(report.ok()) << report.message;
          EXPECT_EQ(report.num_warnings, 0) << report.warning;
        }
        EXPECT_EQ(scene.data->mocap_pos[0], given) << "the caller's pose stays";
        const double face = given + speed * kStep + 0.05;
        deepest = std::max(deepest, face - (scene.data->qpos[0] - 0.05));
      }
      // At the end of a frame, the mocap body is one step's travel past the pose.
      const bool has_gaps =
          contact::traits(GetParam().model).gaps == contact::GapPolicy::kSpeculative || !is_rigid();
      EXPECT_LT(deepest, has_gaps ? 1e-3 * speed : kStep * speed);
      EXPECT_GT(scene.data->qvel[0], 0.98 * speed);
      EXPECT_LT(scene.data->qvel[0], is_rigid() ? speed + 0.1 : 1.02 * speed);
    }
  }
}

TEST_P(MocapFrames, LiftALoadSmoothly) {
  Scene scene = make_scene(R"(
<body mocap="true"><geom type="box" size="0.2 0.2 0.05"/></body>
<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="2"/></body>)",
                           "0 0 -10");
  Stepper stepper(scene.model, options());
  constexpr int kSteps = 5;
  constexpr double kSpeed = 0.3;
  double least = 1e9, most = 0;
  for (int k = 0; k < 100; ++k) {
    scene.data->mocap_pos[2] = kSpeed * k * kSteps * kStep;
    for (int i = 0; i < kSteps; ++i) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      if (k < 60) continue;
      double impulse = 0;
      for (const double gamma : report.contacts.normal_impulse) impulse += gamma;
      least = std::min(least, impulse / kStep);
      most = std::max(most, impulse / kStep);
    }
  }
  // Every step carries the weight of 20 N, not only the first of each frame.
  if (GetParam().integrator != Integrator::rk4) {  // its parts have no impulses of their own
    EXPECT_NEAR(least, 20, 0.1);
    EXPECT_NEAR(most, 20, 0.1);
  }
  if (corrects_overlaps()) {
    EXPECT_NEAR(scene.data->qpos[2], scene.data->mocap_pos[2] + kSpeed * kStep + 0.1, 2e-4);
  }
}

TEST_P(MocapFrames, StopWhereTheLastPoseIs) {
  for (const int steps : {1, 5, 20}) {
    SCOPED_TRACE(steps);
    Scene scene = make_scene(R"(
<body mocap="true"><geom type="box" size="0.2 0.2 0.05"/></body>
<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="2"/></body>)",
                             "0 0 -10");
    Stepper stepper(scene.model, options());
    double highest = 0;
    for (int k = 0; k < 300 / steps; ++k) {
      scene.data->mocap_pos[2] = 0.2 * std::min(0.2, k * steps * kStep);
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, steps));
      highest = std::max(highest, scene.data->qpos[2]);
    }
    // The load flies on by v^2 / 2 g = 2 mm.
    EXPECT_LT(highest, 0.1 + 0.04 + 0.002 + 2 * 0.2 * kStep);
    if (corrects_overlaps()) {
      EXPECT_NEAR(scene.data->qpos[2], 0.14, 1e-3);
    }
  }
}

TEST_P(MocapFrames, DoNotMoveAtAJump) {
  // Jumps in adjacent steps: forward and forward, forward and back, and three forward.
  struct Jumps {
    double start;
    std::array<double, 3> by;
  };
  const std::array<Jumps, 6> cases = {{{-1.799, {0.7, 1.0, 0}},
                                       {-0.209, {0.05, 0.06, 0}},
                                       {-0.4, {0.36, -0.36, 0}},
                                       {-0.2, {0.15, -0.1, 0.1}},
                                       {-0.279, {0.06, 0.06, 0.06}},
                                       {-1.699, {-0.5, 2.0, 0.1}}}};
  for (const auto& [start, jump] : cases) {
    for (const double before : {0.0, 0.3}) {  // speed before the jumps
      SCOPED_TRACE(std::to_string(jump[0]) + " and " + std::to_string(jump[1]));
      double x = start;
      Scene scene = make_scene(kPusher, "0 0 0");
      Stepper stepper(scene.model, options());
      double fastest = 0;
      int num_warnings = 0;
      for (int i = 0; i < 60; ++i) {
        if (i < 20) scene.data->mocap_pos[0] = x + before * kStep * (i - 20);
        if (i >= 20) scene.data->mocap_pos[0] = x += i < 23 ? jump[i - 20] : 0;
        const StepReport& report = stepper.step(scene.data);
        ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
        num_warnings += report.num_warnings;
        fastest = std::max(fastest, mju_norm3(scene.data->qvel));
      }
      EXPECT_LT(fastest, 0.1 + 1e-6) << "faster than max_correction_speed";
      EXPECT_GT(num_warnings, 0);
    }
  }
}

TEST_P(MocapFrames, PushFastBodiesThatAreThin) {
  // The plate moves by 10 mm before each pose, two thirds of its thickness, but by 0.5 mm in a
  // step.
  constexpr int kSteps = 20;
  constexpr double kFine = 0.001, kSpeed = 0.5;
  Scene scene(support::make_mjcf(R"(timestep="0.001" gravity="0 0 0")", R"(<worldbody>
<body mocap="true" pos="-0.2 0 0"><geom type="box" size="0.0075 0.05 0.05"/></body>
<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, options());
  double deepest = 0;
  for (int k = 0; k < 20; ++k) {
    scene.data->mocap_pos[0] = -0.12 + kSpeed * kSteps * kFine * k;
    const StepReport& report = stepper.step(scene.data, kSteps);
    ASSERT_TRUE(report.ok()) << report.message;
    if (k > 4) {
      EXPECT_EQ(report.num_warnings, 0) << report.warning;
      const double face = scene.data->mocap_pos[0] + kSpeed * kFine + 0.0075;
      deepest = std::max(deepest, face - (scene.data->qpos[0] - 0.05));
    }
  }
  EXPECT_LT(deepest, 2 * kSpeed * kFine);
  EXPECT_GT(scene.data->qvel[0], 0.98 * kSpeed);
  EXPECT_LT(scene.data->qvel[0], is_rigid() ? kSpeed + 0.1 : 1.02 * kSpeed);
}

TEST_P(MocapFrames, GoOnAfterACheckpointAndAFailure) {
  Scene scene = make_scene(kPusher, "0 0 0"), copy = make_scene(kPusher, "0 0 0");
  Stepper stepper(scene.model, options()), other(copy.model, options());
  for (int i = 0; i < 80; ++i) {
    const double x = -0.14 + 0.5 * kStep * (i - i % 5);
    scene.data->mocap_pos[0] = x;
    if (i % 7 == 0) {
      copy.set_state(scene.state());
      other.set_state(stepper.get_state());
    }
    ASSERT_TRUE(stepper.step(scene.data).ok());
    copy.data->mocap_pos[0] = x;
    ASSERT_TRUE(other.forward(copy.data).ok());
    EXPECT_EQ(copy.data->mocap_pos[0], x);
    fail_within_step(&other, &copy);
    EXPECT_EQ(copy.data->mocap_pos[0], x);
    ASSERT_TRUE(other.step(copy.data).ok());
    ASSERT_EQ(scene.state(), copy.state()) << "step " << i;
  }
  EXPECT_EQ(stepper.get_state(), other.get_state());
  EXPECT_GT(scene.data->qvel[0], 0.49);
}

}  // namespace
}  // namespace stiction::sim::mocap_frames_test
