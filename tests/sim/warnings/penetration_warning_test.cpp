// The warning of contacts that let geoms sink deep into each other: it finds bodies that pass
// through others or are squeezed flat, and it is silent where contacts hold.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/sim/memory/warning_memory.hpp"
#include "support/trials.hpp"

namespace stiction::sim::penetration_warning_test {
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

/// A geom element, and the mesh that it names.
struct Shape {
  std::string geom, mesh;
};

std::string make_brick(const std::string& name, double x, double y, double z) {
  std::string vertices;
  for (int i = 0; i < 8; ++i)
    for (const double side : {i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z})
      vertices += std::to_string(side) + " ";
  return "<mesh name=\"" + name + "\" vertex=\"" + vertices + "\"/>";
}

/// The end of a thin body that was thrown at a plate.
struct Throw {
  int num_warnings = 0;
  int num_overlaps = 0;  // times at which they began to overlap, at the start or end of a step
  bool has_passed = false, has_failed = false;
};

Throw throw_body(const Shape& body, const Shape& plate, double speed, int seed,
                 contact::ContactModel model) {
  Scene scene(support::make_mjcf(R"(timestep="0.005")",
                                 "<asset>" + body.mesh + plate.mesh + "</asset><worldbody><geom " +
                                     plate.geom +
                                     R"(/><body pos="0 0 .1"><freejoint/><geom mass=".01" )" +
                                     body.geom + "/></body></worldbody>"));
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal;
  for (int i = 3; i < 7; ++i) scene.data->qpos[i] = normal(rng);
  scene.data->qvel[2] = -speed;
  Stepper stepper(scene.model, make_options(model));
  Throw out;
  bool has_overlapped = false;
  for (int i = 0; i < 60 && !out.has_passed && !out.has_failed; ++i) {
    const StepReport& report = stepper.step(scene.data);
    out.has_failed = !report.ok();
    out.num_warnings += report.warnings[kKind].count;
    const ContactReport& contacts = report.contacts;
    bool overlaps = false;
    for (int c = 0; c < contacts.size(); ++c)
      overlaps =
          overlaps || contacts.distance[c] + std::min(0.0, 0.005 * contacts.normal_velocity[c]) < 0;
    out.num_overlaps += overlaps && !has_overlapped ? 1 : 0;
    has_overlapped = overlaps;
    const mjtNum* x = scene.data->qpos;
    out.has_passed = x[2] < -0.1 && std::hypot(x[0], x[1]) < 0.9;
  }
  return out;
}

// A disc that falls with an edge first turns so fast that it is through a plate before the step
// knows the contact points that stop it.
TEST_P(PenetrationWarning, SpeaksOnceIfAThinBodyPassesThroughAPlate) {
  const std::vector<Shape> bodies = {
      {R"(type="cylinder" size=".05 .001")", ""},
      {R"(type="box" size=".05 .04 .001")", ""},
      {R"(type="ellipsoid" size=".05 .05 .002")", ""},
      {R"(type="mesh" mesh="body")", make_brick("body", 0.05, 0.03, 0.001)},
      {R"(type="capsule" size=".001 .05")", ""},
      {R"(type="sphere" size=".003")", ""}};
  const std::vector<Shape> plates = {
      {R"(type="box" size="1 1 .002")", ""},
      {R"(type="cylinder" size="1 .002")", ""},
      {R"(type="ellipsoid" size="1 1 .004")", ""},
      {R"(type="mesh" mesh="plate")", make_brick("plate", 1, 1, 0.002)}};
  for (const Shape& body : bodies) {
    for (const Shape& plate : plates) {
      for (const double speed : {0.5, 2.0, 5.0}) {
        SCOPED_TRACE(body.geom + " on " + plate.geom + ", " + std::to_string(speed) + " m/s");
        for (int seed = 0; seed < support::num_trials(3); ++seed) {
          const Throw thrown = throw_body(body, plate, speed, seed, GetParam());
          if (thrown.has_failed) continue;
          if (thrown.has_passed) {
            EXPECT_GE(thrown.num_warnings, 1) << "seed " << seed;
          }
          EXPECT_LE(thrown.num_warnings, thrown.num_overlaps) << "seed " << seed;
        }
      }
    }
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
}  // namespace stiction::sim::penetration_warning_test
