// The warning of contacts that let geoms sink deep into each other: it finds bodies that pass
// through others or are squeezed flat, and it is silent where contacts hold.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/stepping.hpp"
#include "stiction/sim/penetration_warning.hpp"

namespace stiction::sim {
namespace {

using support::Scene;

constexpr int kKind = static_cast<int>(WarningKind::penetration);

std::vector<contact::ContactModel> list_models() {
  std::vector<contact::ContactModel> models;
  for (const contact::ContactModelTraits& traits : contact::contact_models())
    if (!traits.is_mj_step) models.push_back(traits.model);
  return models;
}

class PenetrationWarning : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, PenetrationWarning, testing::ValuesIn(list_models()), model_name);

/// How a run ended.
struct Outcome {
  int num_warnings = 0;
  std::string text;         // of the last warning
  double lowest = 1e300;    // height of body 1 at the end of a step [m]
  bool has_failed = false;  // a step failed, so the run ended there
};

Outcome step(Scene* scene, contact::ContactModel model, int num_steps) {
  Stepper stepper(scene->model, make_options(model));
  Outcome out;
  for (int i = 0; i < num_steps && !out.has_failed; ++i) {
    const StepReport& report = stepper.step(scene->data);
    out.has_failed = !report.ok();
    out.lowest = std::min(out.lowest, scene->data->qpos[2]);
    out.num_warnings += report.warnings[kKind].count;
    if (report.warnings[kKind].count > 0) out.text = report.warnings[kKind].text;
  }
  return out;
}

TEST_P(PenetrationWarning, SpeaksIfABodyPassesThroughAWall) {
  for (const double speed : {10.0, 1e3, 1e5, 1e7}) {
    SCOPED_TRACE(speed);
    Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(<worldbody>
<geom name="wall" type="box" size="1 1 0.05"/>
<body pos="0 0 3"><freejoint/><geom name="ball" size="0.1" mass="1"/></body></worldbody>)"));
    scene.data->qvel[2] = -speed;
    const Outcome outcome = step(&scene, GetParam(), speed < 100 ? 200 : 20);
    // The ball touches at 0.15 m; the wall is 0.1 m thick.
    const bool is_deep = outcome.lowest < 0.15 - kTooDeep * 0.1;
    EXPECT_EQ(outcome.num_warnings > 0, is_deep) << outcome.lowest;
    if (!is_deep) continue;
    EXPECT_NE(outcome.text.find("'ball' and geom 'wall' overlap"), std::string::npos);
    EXPECT_NE(outcome.text.find("'wall' is 0.1 m thick"), std::string::npos) << outcome.text;
  }
}

TEST_P(PenetrationWarning, SpeaksIfAMocapBodyJumpsThroughABody) {
  // The pose changes before every second step, so the body has no velocity.
  for (const double speed : {0.05, 0.3, 2.0}) {
    SCOPED_TRACE(speed);
    Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(<worldbody>
<body name="pusher" mocap="true" pos="0 0 -0.1001"><geom name="pusher" type="box" size="0.1 0.1 0.05"/></body>
<body><freejoint/><geom name="box" type="box" size="0.05 0.05 0.05" mass="1"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(GetParam()));
    int num_warnings = 0;
    double deepest = 0;
    std::string text;
    for (int i = 0; i < 250; ++i) {
      if (i % 2 == 0) scene.data->mocap_pos[2] += 0.004 * speed;
      const StepReport& report = stepper.step(scene.data);
      if (!report.ok()) break;
      deepest = std::max(deepest, scene.data->mocap_pos[2] + 0.1 - scene.data->qpos[2]);
      num_warnings += report.warnings[kKind].count;
      if (report.warnings[kKind].count > 0) text = report.warnings[kKind].text;
      if (deepest > 0.09) break;
    }
    // The box is 0.1 m high. Between the two limits the pose changes after the last warning.
    if (deepest < 0.9 * kTooDeep * 0.1) {
      EXPECT_EQ(num_warnings, 0) << deepest;
    }
    if (deepest < 2 * kTooDeep * 0.1) continue;
    EXPECT_GT(num_warnings, 0) << deepest;
    EXPECT_NE(text.find("the pose of the mocap body has jumped"), std::string::npos) << text;
  }
}

TEST_P(PenetrationWarning, SpeaksIfABodyIsSqueezedFlat) {
  for (const char* mass : {"1e3", "1e6", "1e9"}) {
    SCOPED_TRACE(mass);
    Scene scene(support::make_mjcf(R"(timestep="0.002")",
                                   R"(<worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 0.1"><freejoint/><geom name="light" type="box" size="0.1 0.1 0.1" mass="1"/></body>
<body pos="0 0 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass=")" +
                                       std::string(mass) + R"("/></body></worldbody>)"));
    const Outcome outcome = step(&scene, GetParam(), 200);
    if (outcome.has_failed) continue;
    // The box is 0.2 m high. Its lower contact bears the larger load.
    const double depth = 0.1 - outcome.lowest;
    EXPECT_EQ(outcome.num_warnings > 0, depth > kTooDeep * 0.2) << depth;
    if (outcome.num_warnings == 0) continue;
    EXPECT_NE(outcome.text.find("'light'"), std::string::npos) << outcome.text;
  }
}

TEST_P(PenetrationWarning, SpeaksIfABodyOfSmallInertiaFallsThrough) {
  for (const char* inertia : {"1e-3", "1e-6", "1e-12"}) {
    SCOPED_TRACE(inertia);
    Scene scene(support::make_mjcf(R"(timestep="0.002")",
                                   R"(<worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 0.1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia=")" +
                                       std::string(inertia) + " " + inertia + " " + inertia +
                                       R"("/><geom size="0.1"/></body></worldbody>)"));
    scene.data->qvel[0] = 1;
    const Outcome outcome = step(&scene, GetParam(), 300);
    if (outcome.has_failed) continue;
    EXPECT_EQ(outcome.num_warnings > 0, outcome.lowest < 0.1 - kTooDeep * 0.2) << outcome.lowest;
  }
}

TEST_P(PenetrationWarning, IsSilentAboutOverlapsAtTheStart) {
  // A box in a plane by 0.4 of its height. It is moved out.
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom type="plane" size="5 5 1"/>
<body pos="0 0 0.02"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody>)"));
  const Outcome outcome = step(&scene, GetParam(), 50);
  EXPECT_EQ(outcome.num_warnings, 0) << outcome.text;
}

TEST_P(PenetrationWarning, IsSilentAboutAHeapAtRest) {
  std::string bodies = R"(<worldbody><geom type="plane" size="5 5 1"/>)";
  for (int i = 0; i < 3; ++i)
    bodies += R"(<body pos="0 0 )" + std::to_string(0.021 + 0.041 * i) +
              R"("><freejoint/><geom type="box" size="0.1 0.1 0.02"/></body>)";
  Scene scene(support::make_mjcf(R"(timestep="0.002")", bodies + "</worldbody>"));
  const Outcome outcome = step(&scene, GetParam(), 100);
  EXPECT_EQ(outcome.num_warnings, 0) << outcome.text;
}

}  // namespace
}  // namespace stiction::sim
