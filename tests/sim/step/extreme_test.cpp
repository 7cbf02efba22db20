// Every contact model on extreme scenes. A step of a convex model succeeds and is certified. A step
// of another model may fail, but then it leaves the state unchanged.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::extreme_test {
namespace {

using support::Scene;

class Extreme : public testing::TestWithParam<contact::ContactModel> {
 protected:
  bool is_convex() const { return contact::traits(GetParam()).has_error_bound; }

  StepOptions make_uncapped() const {
    StepOptions options = make_options(GetParam());
    options.parameters.near_rigid_factor = 0;  // SAP's cap of stiffness
    return options;
  }

  void expect_steps(Scene* scene, Stepper* stepper, int num_steps) const {
    for (int i = 0; i < num_steps; ++i) {
      const StepReport& report = stepper->step(scene->data);
      for (int dof = 0; dof < (*scene)->nv; ++dof)
        ASSERT_TRUE(std::isfinite(scene->data->qvel[dof])) << "step " << i;
      if (!is_convex() && !report.ok()) {
        EXPECT_TRUE(report.status & (kNotConverged | kTooLarge)) << report.message;
        return;
      }
      ASSERT_TRUE(report.ok()) << "step " << i << ": " << report.message;
      if (!is_convex()) continue;
      ASSERT_EQ(report.certificate.round_off, 0) << "step " << i;
      // A quarter more than the tolerance: the solver rounds the same sum differently.
      ASSERT_LE(report.certificate.relative_residual, 1.25e-5) << "step " << i;
    }
  }
};

std::vector<contact::ContactModel> list_models() {
  std::vector<contact::ContactModel> models;
  for (const contact::ContactModelTraits& traits : contact::contact_models())
    if (!traits.is_mj_step) models.push_back(traits.model);
  return models;
}
INSTANTIATE_TEST_SUITE_P(Models, Extreme, testing::ValuesIn(list_models()), model_name);

std::string make_body(const std::string& pos, const std::string& geom) {
  return "<body pos=\"" + pos + "\"><freejoint/><geom " + geom + "/></body>";
}

/// Spheres and boxes that fall onto each other, in motion from the start.
Scene make_pile(double time_step) {
  std::string bodies = R"(<geom type="plane" size="9 9 1"/>)";
  for (int i = 0; i < 6; ++i) {
    const double x = 0.02 * (i % 3), y = 0.015 * (i % 2);
    const std::string pos =
        std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(0.06 + 0.105 * i);
    bodies += make_body(
        pos, i % 2 ? R"(size="0.05" mass="0.5")" : R"(type="box" size="0.05 0.05 0.05" mass="1")");
  }
  Scene scene(support::make_mjcf(
      "timestep=\"" + std::to_string(time_step) + "\"",
      "<default><geom friction=\"1\"/></default><worldbody>" + bodies + "</worldbody>"));
  for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = 0.3 * std::sin(i + 1);
  return scene;
}

TEST_P(Extreme, AllStiffnessesAreSolved) {
  for (const double k : {1e5, 1e7, 1e9, 1e11, 1e13}) {
    SCOPED_TRACE(k);
    Scene scene = make_pile(2e-3);
    const plant::Material material = {
        .law = {.stiffness = 2 * k, .dissipation = 10, .relaxation_time = 5e-5}};
    Stepper stepper(scene.model, make_uncapped(), make_materials(scene, material));
    expect_steps(&scene, &stepper, 150);
  }
}

TEST_P(Extreme, LargeStepsAreSolved) {
  for (const double time_step : {5e-3, 1e-2}) {
    SCOPED_TRACE(time_step);
    Scene scene = make_pile(time_step);
    const plant::Material material = {
        .law = {.stiffness = 2e7, .dissipation = 10, .relaxation_time = 5e-5}};
    Stepper stepper(scene.model, make_uncapped(), make_materials(scene, material));
    expect_steps(&scene, &stepper, 60);
  }
}

TEST_P(Extreme, TighterTolerancesAreMet) {
  Scene scene = make_pile(2e-3);
  const plant::Material material = {
      .law = {.stiffness = 2e7, .dissipation = 10, .relaxation_time = 5e-5}};
  StepOptions options = make_uncapped();
  options.tolerance = 1e-8;
  Stepper stepper(scene.model, options, make_materials(scene, material));
  for (int i = 0; i < 150; ++i) {
    const StepReport& report = stepper.step(scene.data);
    if (!is_convex() && !report.ok()) return;
    ASSERT_TRUE(report.ok()) << "step " << i << ": " << report.message;
    if (!is_convex()) continue;
    ASSERT_EQ(report.certificate.round_off, 0) << "step " << i;
    ASSERT_LE(report.certificate.relative_residual, 1.25e-8) << "step " << i;
  }
}

TEST_P(Extreme, MassRatiosOfAMillion) {
  for (const auto& [below, above] : {std::pair("1e3", "1e-3"), {"1e-3", "1e3"}}) {
    SCOPED_TRACE(above);
    const auto box = [](const char* mass) {
      return R"(type="box" size="0.05 0.05 0.05" mass=")" + std::string(mass) + "\"";
    };
    Scene scene(support::make_mjcf(R"(timestep="0.002")",
                                   R"(<worldbody><geom type="plane" size="9 9 1"/>)" +
                                       make_body("0 0 0.05", box(below)) +
                                       make_body("0.01 0 0.151", box(above)) + "</worldbody>"));
    scene.data->qvel[6] = 0.2;
    Stepper stepper(scene.model, make_options(GetParam()));
    expect_steps(&scene, &stepper, 60);
  }
}

TEST_P(Extreme, MassRatiosOfABillionAreSolvedOrNamed) {
  // The light box is squeezed flat, or the step fails and the message says why.
  for (const char* mass : {"1e6", "1e9", "1e12"}) {
    SCOPED_TRACE(mass);
    Scene scene(support::make_mjcf(
        R"(timestep="0.002")",
        R"(<worldbody><geom type="plane" size="9 9 1"/>)" +
            make_body("0 0 0.1", R"(type="box" size="0.1 0.1 0.1" mass="1")") +
            make_body("0 0 0.3",
                      R"(type="box" size="0.1 0.1 0.1" mass=")" + std::string(mass) + "\"") +
            "</worldbody>"));
    Stepper stepper(scene.model, make_options(GetParam()));
    int num_warnings = 0;
    for (int i = 0; i < 100; ++i) {
      const StepReport& report = stepper.step(scene.data);
      num_warnings += report.warnings[static_cast<int>(WarningKind::penetration)].count;
      if (report.ok()) continue;
      const bool is_rigid = contact::traits(GetParam()).is_rigid;
      EXPECT_TRUE(is_rigid || !is_convex());
      if (is_rigid) {
        EXPECT_NE(report.message.find("masses that differ by a factor of 1e+"), std::string::npos)
            << report.message;
      }
      break;
    }
    const double depth = 0.1 - scene.data->qpos[2];
    EXPECT_TRUE(depth < 0.02 || num_warnings > 0) << depth;
  }
}

TEST_P(Extreme, AMatrixThatCannotBeFactoredIsNamed) {
  // A ball at a wall with up to 1e12 m/s: no step fails without the cause and a fitting remedy.
  for (const double speed : {1e7, 1e9, 1e12}) {
    SCOPED_TRACE(speed);
    Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")",
                                   R"(<worldbody><geom type="box" size="1 1 0.05"/>)" +
                                       make_body("0 0 3", R"(size="0.1" mass="1")") +
                                       "</worldbody>"));
    scene.data->qvel[2] = -speed;
    Stepper stepper(scene.model, make_options(GetParam()));
    const StepReport& report = stepper.step(scene.data);
    if (GetParam() == contact::ContactModel::similar && speed == 1e7) {
      EXPECT_EQ(report.status, kNotPositiveDefinite) << report.message;
    }
    if (report.status != kNotPositiveDefinite) continue;
    EXPECT_NE(report.message.find("Newton matrix"), std::string::npos) << report.message;
    EXPECT_EQ(report.message.find("max_iterations"), std::string::npos) << report.message;
  }
}

TEST_P(Extreme, FrictionOfZeroAndOfTen) {
  for (const char* mu : {"0", "10"}) {
    SCOPED_TRACE(mu);
    Scene scene(support::make_mjcf(
        R"(timestep="0.002")",
        "<default><geom friction=\"" + std::string(mu) +
            R"("/></default><worldbody><geom type="plane" size="9 9 1"/>)" +
            make_body("0 0 0.052", R"(type="box" size="0.05 0.05 0.05")") +
            make_body("0.02 0 0.153", R"(size="0.05")") +
            make_body("0.3 0 0.12", R"(type="capsule" size="0.05 0.1" euler="0 60 0")") +
            "</worldbody>"));
    for (int i = 0; i < scene->nv; i += 6) scene.data->qvel[i] = 1;
    Stepper stepper(scene.model, make_options(GetParam()));
    expect_steps(&scene, &stepper, 100);
  }
}

TEST_P(Extreme, ABodyStandsOnGeomsThatCoincide) {
  std::string geoms;
  for (int i = 0; i < 20; ++i) geoms += R"(<geom size="0.05" mass="0.05"/>)";
  Scene scene(support::make_mjcf(R"(timestep="0.002")",
                                 R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.0501"><freejoint/>)" +
                                     geoms + "</body></worldbody>"));
  scene.data->qvel[0] = 0.5;
  Stepper stepper(scene.model, make_options(GetParam()));
  expect_steps(&scene, &stepper, 50);
  EXPECT_NEAR(scene.data->qpos[2], 0.05, 2e-3);
}

TEST_P(Extreme, VelocitiesWithoutDigitsAreSolved) {
  // Bodies that come to rest without gravity pass through them.
  const std::string box = make_body("0 0 0.05", R"(type="box" size="0.05 0.05 0.05" mass="1")");
  for (const char* lid :
       {"", R"(<geom type="plane" size="1 1 1" pos="0 0 0.09" euler="180 0 0"/>)"})
    for (const double tiny : {1e-60, 1e-99, -1e-101, 1e-160, 1e-290, 1e-317, -1e-322})
      for (int dof = 0; dof < 6; ++dof) {
        Scene scene(support::make_mjcf(
            R"(timestep="0.002" gravity="0 0 0")",
            "<worldbody><geom type=\"plane\" size=\"1 1 1\"/>" + box + lid + "</worldbody>"));
        scene.data->qvel[dof] = tiny;
        Stepper stepper(scene.model, make_uncapped());
        const StepReport& report = stepper.step(scene.data);
        ASSERT_TRUE(report.ok()) << lid << tiny << " of dof " << dof << ": " << report.message;
      }
}

TEST_P(Extreme, AChainClosesOnItself) {
  // Five links curl up until the last presses against the first.
  std::string chain, end;
  for (int i = 0; i < 5; ++i) {
    chain += std::string("<body pos=\"") + (i ? "0.2" : "0") + R"( 0 0"><joint axis="0 1 0"/>
<geom type="capsule" size="0.04" fromto="0.05 0 0 0.15 0 0" mass="0.3"/>)";
    end += "</body>";
  }
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")",
                                 "<worldbody>" + chain + end + "</worldbody>"));
  // A regular pentagon closes at 72 degrees per joint. The first joint turns the whole chain.
  for (int i = 1; i < 5; ++i) {
    scene.data->qpos[i] = 1.2;
    scene.data->qfrc_applied[i] = 2;
  }
  Stepper stepper(scene.model, make_options(GetParam()));
  int num_touching = 0;
  for (int i = 0; i < 100; ++i) {
    expect_steps(&scene, &stepper, 1);
    num_touching += scene.data->ncon > 0;
  }
  EXPECT_GT(num_touching, 50);
}

TEST_P(Extreme, ManyContactsOnOneBody) {
  constexpr int kNum = 100;  // spheres on a side
  std::string geoms;
  for (int i = 0; i < kNum * kNum; ++i)
    geoms += "<geom size=\"0.004\" mass=\"0.001\" pos=\"" + std::to_string(0.01 * (i % kNum)) +
             " " + std::to_string(0.01 * (i / kNum)) + " 0\"/>";
  Scene scene(
      "<mujoco><size memory=\"200M\"/><option timestep=\"0.002\"/><worldbody>"
      "<geom type=\"plane\" size=\"9 9 1\"/><body pos=\"0 0 0.00399\"><freejoint/>" +
      geoms + "</body></worldbody></mujoco>");
  scene.data->qvel[0] = 0.1;
  Stepper stepper(scene.model, make_options(GetParam()));
  expect_steps(&scene, &stepper, 3);
}

}  // namespace
}  // namespace stiction::sim::extreme_test
