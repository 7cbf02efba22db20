// tamsi in scenes: landings with slip, divided steps, joints and limits, and steps that it cannot
// solve.
#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::tamsi_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// Returns the time at which a sphere that lands sliding at 2 m/s begins to roll [s].
double find_rolling_time(ContactModel model) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody><geom type="plane"
size="50 50 1" friction="0.5"/><body pos="0 0 0.05"><freejoint/>
<geom size="0.025" mass="0.5" friction="0.5"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(model),
                  make_materials(scene, {.law = {.stiffness = 2e7, .dissipation = 500}}));
  scene.data->qvel[0] = 2;
  for (int n = 1; n <= 150; ++n) {
    const StepReport& report = stepper.step(scene.data);
    EXPECT_TRUE(report.ok()) << report.message;
    for (int i = 0; i < report.contacts.size(); ++i)
      if (std::hypot(report.contacts.slip_velocity[3 * i], report.contacts.slip_velocity[3 * i + 1],
                     report.contacts.slip_velocity[3 * i + 2]) < 1e-3)
        return scene.data->time;
  }
  return HUGE_VAL;
}

TEST(TamsiScene, LandingSphereRollsAtTheTimeOfCoulombsLaw) {
  // 2 U0 / (7 mu g), whatever the height, since impact and weight give the same impulse.
  const double exact = 2 * 2 / (7 * 0.5 * 9.81);
  EXPECT_NEAR(find_rolling_time(ContactModel::tamsi), exact, 0.004);  // two steps
  // A speculative contact has no excessive force in its first step, so the friction bound from the
  // start of the step is accurate, too.
  EXPECT_NEAR(find_rolling_time(ContactModel::lagged), exact, 0.004);
}

TEST(TamsiScene, DollWithLimitsServosAndDryFrictionComesToRestAsUnderLagged) {
  const support::Doll doll = support::make_doll("d", 0, 0, 1);
  const std::string xml = support::make_mjcf(
      R"(timestep="0.002")", R"(<worldbody><geom type="plane" size="9 9 1"/>)" + doll.body +
                                 "</worldbody><actuator>" + doll.actuators + "</actuator>");
  double height[2];
  int max_substeps = 1, num_rows = 0;
  for (const ContactModel model : {ContactModel::tamsi, ContactModel::lagged}) {
    Scene scene(xml);
    Stepper stepper(scene.model, make_options(model),
                    make_materials(scene, {.law = {.stiffness = 2e4, .dissipation = 5}}));
    for (int i = 0; i < 1500; ++i) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message << " at " << report.time;
      EXPECT_TRUE(report.certificate.ok);
      if (model != ContactModel::tamsi) continue;
      EXPECT_EQ(report.certificate.error_bound, contact::kInfinity);
      max_substeps = std::max(max_substeps, report.statistics.max_substeps);
      num_rows = std::max(num_rows, report.statistics.num_rows);
    }
    mj_forward(scene.model, scene.data);
    height[model == ContactModel::lagged] = scene.data->subtree_com[2];
  }
  EXPECT_NEAR(height[0], height[1], 1e-3);  // measured: 0.15 mm apart
  EXPECT_GT(max_substeps, 1);
  EXPECT_GT(num_rows, 20);
}

TEST(TamsiScene, CornersConvergeOrLeaveTheStateAsItWas) {
  struct Corner {
    double mass_ratio, max_friction, stiffness;
  };
  int num_divided = 0, num_failed = 0;
  for (const Corner& corner : {Corner{1, 1, 1e5}, Corner{1e4, 1, contact::kInfinity},
                               Corner{10, 10, contact::kInfinity}, Corner{10, 1, 1e12}}) {
    support::RandomSceneOptions options;
    options.num_bodies = 15;
    options.num_hinged = 3;
    options.spacing = 0.22;
    options.mass_ratio = corner.mass_ratio;
    options.max_friction = corner.max_friction;
    for (int seed = 0; seed < 3; ++seed) {
      Scene scene(support::make_random_scene(seed, options));
      plant::Material material = plant::kDefaultMaterial;
      material.law.stiffness = 2 * corner.stiffness;
      Stepper stepper(scene.model, make_options(ContactModel::tamsi),
                      make_materials(scene, material));
      for (int i = 0; i < 300; ++i) {
        const std::vector<mjtNum> before = scene.state();
        const StepReport& report = stepper.step(scene.data);
        num_divided += report.statistics.max_substeps > 1;
        if (report.ok()) {
          EXPECT_TRUE(report.certificate.ok);
          EXPECT_LE(report.certificate.relative_residual, 1.25e-5);
          continue;
        }
        ++num_failed;
        EXPECT_EQ(report.status, kNotConverged) << report.message;
        EXPECT_NE(report.message.find("tamsi found no solution"), std::string::npos);
        const std::vector<mjtNum> after = scene.state();
        EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(mjtNum)), 0);
        break;
      }
    }
  }
  EXPECT_GT(num_divided, 20);  // measured: 71 of 714 steps, and 11 of 12 scenes fail
  EXPECT_GT(num_failed, 0);
}

TEST(TamsiScene, DividedStepsWithTendonsBetweenTreesPassTheirCertificate) {
  // A spring or damper between two trees is a row of its own and acts in each sub-step.
  for (const char* tendon : {R"(stiffness="20")", R"(damping="0.5")"}) {
    std::string bodies, tendons;
    for (int i = 0; i < 4; ++i) {
      const std::string n = std::to_string(i);
      bodies += "<body pos=\"" + std::to_string(0.15 * i) + " 0 0.16\" euler=\"" +
                std::to_string(20 + 40 * i) + " " + std::to_string(30 * i) +
                R"( 10"><freejoint/><geom type="box" size="0.05 0.03 0.02"/><site name="s)" + n +
                "\"/></body>";
      if (i > 0)
        tendons += "<spatial " + std::string(tendon) + R"(><site site="s)" + std::to_string(i - 1) +
                   R"("/><site site="s)" + n + R"("/></spatial>)";
    }
    int num_divided = 0;
    std::mt19937_64 rng(7);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 60; ++trial) {
      Scene scene(support::make_mjcf(
          R"(timestep="0.004")", R"(<worldbody><geom type="plane" size="3 3 1" friction="0.9"/>)" +
                                     bodies + "</worldbody><tendon>" + tendons + "</tendon>"));
      for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = 2 * normal(rng);
      Stepper stepper(scene.model, make_options(ContactModel::tamsi),
                      plant::make_default_materials(scene.model));
      for (int i = 0; i < 150; ++i) {
        const StepReport& report = stepper.step(scene.data);
        if (report.status == kNotConverged) break;
        ASSERT_TRUE(report.ok()) << tendon << ": " << report.message;
        num_divided += report.statistics.max_substeps > 1;
      }
    }
    EXPECT_GT(num_divided, 5) << tendon;
  }
}

}  // namespace
}  // namespace stiction::sim::tamsi_test
