// Limits of joints and tendons under rigid models, driven by motors in all directions: how far they
// let go, and that a warning says so.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/sim/memory/warning_memory.hpp"
#include "support/trials.hpp"

namespace stiction::sim::limit_violations_test {
namespace {

using support::Scene;

constexpr int kKind = static_cast<int>(WarningKind::limit);

/// A scene with one limit, and motors that drive it.
struct LimitedScene {
  const char* name;
  const char* elements;   // of <mujoco>
  bool is_tendon, holds;  // holds: the limit is a straight line, or its row follows its curve
};

void PrintTo(const LimitedScene& scene, std::ostream* out) { *out << scene.name; }

const LimitedScene kScenes[] = {
    {"Hinge", R"(<worldbody><body><joint name="j" axis="0 1 0" limited="true" range="-0.6 0.6"/>
<geom type="box" pos=".1 .2 .3" size=".1 .2 .3"/></body></worldbody>
<actuator><motor gear="300" joint="j"/></actuator>)",
     false, true},
    {"Slide", R"(<worldbody><body><joint name="j" type="slide" limited="true" range="-0.3 0.3"/>
<geom type="box" size=".1 .2 .3"/></body></worldbody>
<actuator><motor gear="3000" joint="j"/></actuator>)",
     false, true},
    {"Ball", R"(<worldbody><body><joint name="j" type="ball" limited="true" range="0 0.6"/>
<geom type="box" pos=".1 .2 .3" size=".1 .2 .3"/></body></worldbody>
<actuator><motor gear="250 0 0" joint="j"/><motor gear="0 275 0" joint="j"/>
<motor gear="0 0 300" joint="j"/></actuator>)",
     false, true},
    {"FixedTendon", R"(<worldbody><body><joint name="j" axis="0 1 0"/>
<geom type="box" pos=".1 .2 .3" size=".1 .2 .3"/><body pos="0 0 0.6"><joint name="k" axis="1 0 0"/>
<geom type="box" size=".1 .1 .1"/></body></body></worldbody>
<tendon><fixed name="t" limited="true" range="-0.6 0.6"><joint joint="j" coef="1"/>
<joint joint="k" coef="0.5"/></fixed></tendon>
<actuator><motor gear="300" joint="j"/><motor gear="20" joint="k"/></actuator>)",
     true, true},
    {"Rope", R"(<worldbody><site name="o"/><body pos="0.9 0 0"><joint name="j" type="slide"/>
<joint name="k" type="slide" axis="0 1 0"/><geom size=".1" mass="1"/><site name="s"/></body>
</worldbody><tendon><spatial name="t" limited="true" range="0 1"><site site="o"/><site site="s"/>
</spatial></tendon><actuator><motor gear="100" joint="j"/><motor gear="130" joint="k"/></actuator>)",
     true, false},
};

/// How far a limit let go.
struct Outcome {
  double largest = 0;  // violation at the start or end of a step, in tolerances
  int num_warnings = 0;
  std::string text;
};

double calc_excess(const Scene& scene, bool is_tendon) {
  const mjModel* m = scene.model;
  if (is_tendon) {
    const double length = scene.data->ten_length[0];  // at the start of the step
    return std::max(m->tendon_range[0] - length, length - m->tendon_range[1]);
  }
  const mjtNum* const q = scene.data->qpos;
  if (m->jnt_type[0] == mjJNT_BALL)
    return 2 * std::atan2(std::hypot(q[1], q[2], q[3]), std::abs(q[0])) - m->jnt_range[1];
  return std::max(m->jnt_range[0] - q[0], q[0] - m->jnt_range[1]);
}

/// Drives a scene by sines of random frequencies for some seconds.
Outcome drive(const LimitedScene& limited, contact::ContactModel model, double dt, int seed) {
  Scene scene(support::make_mjcf("timestep='" + std::to_string(dt) + "' gravity='0 0 0'",
                                 R"(<compiler angle="radian"/>)" + std::string(limited.elements)));
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> frequency(0.2, 2), phase(0, 2 * M_PI);
  std::vector<double> f(3 * scene->nu), p(f.size());
  for (double& x : f) x = frequency(rng);
  for (double& x : p) x = phase(rng);
  Stepper stepper(scene.model, make_options(model));
  const double tolerance = calc_limit_tolerance(scene.model, limited.is_tendon, 0);
  Outcome out;
  for (int i = 0; i < 8 / dt; ++i) {
    for (int u = 0; u < scene->nu; ++u) {
      double sum = 0;
      for (int k = 3 * u; k < 3 * u + 3; ++k)
        sum += std::sin(2 * M_PI * f[k] * scene.data->time + p[k]);
      scene.data->ctrl[u] = sum / 3;
    }
    const StepReport& report = stepper.step(scene.data);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    out.largest = std::max(out.largest, calc_excess(scene, limited.is_tendon) / tolerance);
    out.num_warnings += report.warnings[kKind].count;
    if (report.warnings[kKind].count > 0) out.text = report.warnings[kKind].text;
  }
  return out;
}

class LimitViolations
    : public testing::TestWithParam<std::tuple<LimitedScene, contact::ContactModel>> {};

TEST_P(LimitViolations, StayBelowTheToleranceOrGiveAWarning) {
  const auto& [scene, model] = GetParam();
  for (const double dt : {0.02, 0.005}) {
    for (int seed = 0; seed < support::num_trials(3); ++seed) {
      SCOPED_TRACE("time step " + std::to_string(dt) + ", seed " + std::to_string(seed));
      const Outcome outcome = drive(scene, model, dt, seed);
      if (scene.holds) {
        EXPECT_LT(outcome.largest, 1);
      }
      EXPECT_EQ(outcome.num_warnings > 0, outcome.largest >= 1) << outcome.largest << outcome.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LimitViolations,
                         testing::Combine(testing::ValuesIn(kScenes),
                                          testing::ValuesIn(rigid_models())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(contact::traits(std::get<1>(info.param)).name);
                         });

/// A joint that the caller puts beyond its range gives no warning.
TEST(LimitWarning, IsSilentOfWhatTheCallerSets) {
  for (const contact::ContactModel model : rigid_models()) {
    Scene scene(
        support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")",
                           R"(<compiler angle="radian"/>)" + std::string(kScenes[0].elements)));
    Stepper stepper(scene.model, make_options(model));
    int num_warnings = 0;
    for (int i = 0; i < 40; ++i) {
      if (i % 20 == 10) scene.data->qpos[0] = 1;
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      num_warnings += report.warnings[kKind].count;
    }
    EXPECT_EQ(num_warnings, 0);
  }
}

/// Two limits that exclude each other are a conflict. The limit that gives way says how far.
TEST(LimitWarning, NamesTheLimitThatOtherConstraintsPush) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(<worldbody>
<body name="pusher" mocap="true" pos="-0.3 0 0"><geom type="box" size="0.1 0.1 0.1"/></body>
<body><joint name="slider" type="slide" limited="true" range="-1 0.05"/><geom type="box" size="0.1 0.1 0.1"
mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(contact::ContactModel::no_slip));
  int num_warnings = 0;
  std::string text;
  for (int i = 0; i < 400 && scene.data->qpos[0] < 0.2; ++i) {
    scene.data->mocap_pos[0] += 1e-3;
    const StepReport& report = stepper.step(scene.data);
    if (!report.ok()) break;
    num_warnings += report.warnings[kKind].count;
    if (report.warnings[kKind].count > 0) text = report.warnings[kKind].text;
  }
  const double excess = scene.data->qpos[0] - 0.05;
  EXPECT_EQ(num_warnings > 0, excess > calc_limit_tolerance(scene.model, false, 0)) << excess;
  if (num_warnings > 0) {
    EXPECT_NE(text.find("joint 'slider'"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace stiction::sim::limit_violations_test
