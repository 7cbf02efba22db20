// The warning of contact forces that nothing explains: it finds bodies that overlaps press
// together, and it is silent about impacts, loads and strong motors.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim::force_warning_test {
namespace {

using support::Scene;

constexpr int kKind = static_cast<int>(WarningKind::large_force);

/// @param stiffness of a pair [N/m]
plant::MaterialTable make_stiff(const mjModel* m, double stiffness) {
  plant::MaterialTable materials = plant::make_default_materials(m);
  for (plant::Material& material : materials.geoms) material.law.stiffness = 2 * stiffness;
  return materials;
}

/// Steps a scene and returns the number of warnings of large forces.
/// @param text     the last warning is written to it
/// @param is_large  if given, whether a contact force exceeded 1e4 weights
/// @param stiffness of the contacts [N/m]
int count_warnings(Scene* scene, contact::ContactModel model, int num_steps, std::string* text,
                   bool* is_large = nullptr, double stiffness = contact::kInfinity) {
  StepOptions options = make_options(model);
  options.on_failure = OnFailure::keep_best;
  Stepper stepper(scene->model, options, make_stiff(scene->model, stiffness));
  int count = 0;
  for (int i = 0; i < num_steps; ++i) {
    const StepReport& report = stepper.step(scene->data);
    count += report.warnings[kKind].count;
    if (report.warnings[kKind].count > 0) *text = report.warnings[kKind].text;
    if (!is_large) continue;
    double weight = 0;
    for (int b = 1; b < scene->model->nbody; ++b) weight += 9.81 * scene->model->body_mass[b];
    for (const double impulse : report.contacts.normal_impulse)
      *is_large = *is_large || impulse / report.contacts.time_step > 1e4 * weight;
  }
  return count;
}

class ForceWarning : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, ForceWarning, testing::ValuesIn(compliant_models()), model_name);

TEST_P(ForceWarning, NamesABodyThatOverlapsTwoWalls) {
  // The walls are 40 mm too near. A near-rigid contact has no force where it overlaps at the start.
  Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(<worldbody>
<geom name="left" type="box" size="0.1 1 1" pos="-0.18 0 0"/>
<geom name="right" type="box" size="0.1 1 1" pos="0.18 0 0"/>
<body><joint type="slide" axis="1 0 0"/><geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody>)"));
  std::string text;
  bool is_large = false;
  EXPECT_EQ(count_warnings(&scene, GetParam(), 20, &text, &is_large), 0) << text;
  EXPECT_FALSE(is_large);
  mj_resetData(scene.model, scene.data);
  const int count = count_warnings(&scene, GetParam(), 20, &text, &is_large, 4e7);
  EXPECT_GT(count, 0);
  EXPECT_TRUE(is_large);
  EXPECT_NE(text.find("'box'"), std::string::npos) << text;
  EXPECT_NE(text.find("overlap by 0.02 m"), std::string::npos) << text;
}

TEST(WarningText, IsReadAfterTheEndOfTheModelAndTheStepper) {
  StepReport report;
  std::string text;
  {
    Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(<worldbody>
<geom name="left" type="box" size="0.1 1 1" pos="-0.18 0 0"/>
<geom name="right" type="box" size="0.1 1 1" pos="0.18 0 0"/>
<body><joint type="slide" axis="1 0 0"/><geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody>)"));
    Stepper stepper(scene.model, make_options(contact::ContactModel::lagged_regularized),
                    make_stiff(scene.model, 4e7));
    report = stepper.step(scene.data);
    text = report.warnings[kKind].text;
    // A later step has other numbers, and keeps none of those of an earlier one.
    EXPECT_NE(stepper.step(scene.data).warnings[kKind].text.str(), "");
  }
  EXPECT_NE(text.find("geom 'left' and geom 'box' press on each other with"), std::string::npos)
      << text;
  EXPECT_EQ(report.warnings[kKind].text.str(), text);
  EXPECT_EQ(report.warning.str(), text);
  EXPECT_FALSE(report.warning.empty());
  clear_report(&report);
  EXPECT_TRUE(report.warning.empty());
  EXPECT_EQ(report.warnings[kKind].text.str(), "");
}

TEST_P(ForceWarning, DoesNotCountTheMassesOfBodiesThatCannotMove) {
  // The same walls are a mocap body and a body without joints.
  Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(<worldbody>
<body mocap="true" pos="-0.18 0 0"><geom type="box" size="0.1 1 1" mass="1e6"/></body>
<body pos="0.18 0 0"><geom type="box" size="0.1 1 1" mass="1e6"/></body>
<body><joint type="slide" axis="1 0 0"/><geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody>)"));
  std::string text;
  const int count = count_warnings(&scene, GetParam(), 20, &text, nullptr, 4e7);
  EXPECT_GT(count, 0);
}

TEST_P(ForceWarning, IsSilentAboutAnImpact) {
  // 1 kg stops from 50 m/s within 10 us: 5e6 N.
  Scene scene(support::make_mjcf(R"(timestep="0.00001")", R"(<worldbody>
<geom type="plane" size="1 1 1"/><body pos="0 0 0.1001"><freejoint/><geom size="0.1" mass="1"/></body>
</worldbody>)"));
  scene.data->qvel[2] = -50;
  std::string text;
  EXPECT_EQ(count_warnings(&scene, GetParam(), 5, &text), 0) << text;
  EXPECT_GT(scene.data->qvel[2], -25);
}

TEST(RigidForceWarning, IsSilentAboutARebound) {
  // 1 kg comes back with its speed of 50 m/s: twice its momentum within 10 us.
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    if (!traits.is_rigid) continue;
    Scene scene(support::make_mjcf(R"(timestep="0.00001")", R"(<worldbody>
<geom type="plane" size="1 1 1"/><body pos="0 0 0.1001"><freejoint/><geom size="0.1" mass="1"/></body>
</worldbody>)"));
    scene.data->qvel[2] = -50;
    plant::Material material = plant::kDefaultMaterial;
    material.law.restitution = 1;
    Stepper stepper(scene.model, make_options(traits.model), make_materials(scene, material));
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(stepper.step(scene.data).warnings[kKind].count, 0) << traits.name;
    EXPECT_GT(scene.data->qvel[2], 49) << traits.name;
  }
}

TEST_P(ForceWarning, SpeaksOfAForceThatAnotherBodysMotionDoesNotExplain) {
  // A box between two walls that are 12 mm too near gets 1.2e4 weights. The momentum of a fast
  // ball, 3.6e3 weights during a step, is not in this contact.
  Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(<worldbody>
<geom type="box" size="0.1 1 1" pos="-0.194 0 0"/>
<geom type="box" size="0.1 1 1" pos="0.194 0 0"/>
<body><joint type="slide" axis="1 0 0"/><geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/></body>
<body pos="0 0 5"><freejoint/><geom size="0.1" mass="1"/></body>
</worldbody>)"));
  scene.data->qvel[3] = 50;
  std::string text;
  bool is_large = false;
  const int count = count_warnings(&scene, GetParam(), 20, &text, &is_large, 4e7);
  EXPECT_EQ(is_large, GetParam() != contact::ContactModel::sap);  // its springs are softer
  EXPECT_EQ(count > 0, is_large) << text;
}

TEST_P(ForceWarning, JudgesAContactByTheBodiesOfItsIsland) {
  // The same box gets 4e4 times its weight between walls that are 40 mm too near. Beside it, and in
  // an island of its own, a ball of 1000 kg at 50 m/s slides on a plane. Its weight and its
  // momentum would explain 2e6 times as much as the box weighs.
  Scene scene(support::make_mjcf(R"(timestep="0.001")", R"(<worldbody>
<geom type="box" size="0.1 1 1" pos="-0.18 0 0"/>
<geom type="box" size="0.1 1 1" pos="0.18 0 0"/>
<geom type="plane" size="9 9 1" pos="0 0 -2"/>
<body><joint type="slide" axis="1 0 0"/><geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/></body>
<body pos="0 0 -1.9"><freejoint/><geom name="ball" size="0.1" mass="1000"/></body>
</worldbody>)"));
  scene.data->qvel[1] = 50;
  std::string text;
  const int count = count_warnings(&scene, GetParam(), 20, &text, nullptr, 4e7);
  EXPECT_GT(count, 0);
  EXPECT_EQ(text.find("'ball'"), std::string::npos) << text;
}

TEST_P(ForceWarning, IsSilentAboutAStrongMotor) {
  // A press of 10 g pushes with 1 MN, 1e7 times its weight.
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom type="plane" size="1 1 1"/><body pos="0 0 0.1"><joint name="j" type="slide" axis="0 0 1"/>
<geom size="0.1" mass="0.01"/></body></worldbody><actuator><motor joint="j"/></actuator>)"));
  scene.data->ctrl[0] = -1e6;
  std::string text;
  EXPECT_EQ(count_warnings(&scene, GetParam(), 20, &text), 0) << text;
}

}  // namespace
}  // namespace stiction::sim::force_warning_test
