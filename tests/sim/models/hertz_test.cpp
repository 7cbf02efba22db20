// Stiffness from Young's modulus and Poisson's ratio in whole simulations, against Hertz's closed
// forms.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/plant/shapes/local_shape.hpp"
#include "stiction/sim/options/pair_explanation.hpp"

namespace stiction::sim::hertz_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kGravity = 9.81, kE = 5e6, kNu = 0.4;  // a rubber

plant::Material make_rubber(double E = kE, double nu = kNu) {
  plant::Material material = plant::kDefaultMaterial;
  material.youngs_modulus = E;
  material.poissons_ratio = nu;
  material.law.dissipation = 20;
  return material;
}

StepOptions make_hertz(ContactModel model) {
  StepOptions options = make_options(model, 1e-9);
  options.parameters.normal_law = contact::NormalLawKind::hertz;
  return options;
}

/// A body of 1.2 kg that can only move up and down, over another geom.
Scene make_scene(const std::string& lower, const std::string& upper) {
  return Scene(support::make_mjcf(
      R"(timestep="0.001")", "<worldbody><geom " + lower +
                                 R"(/><body><joint type="slide" axis="0 0 1"/><geom mass="1.2" )" +
                                 upper + "/></body></worldbody>"));
}

/// Returns the depth at which the upper body comes to rest.
double settle(Scene* scene, const StepOptions& options, const plant::MaterialTable& materials) {
  Stepper stepper(scene->model, options, materials);
  run(&stepper, scene, 3000);
  StepReport report;
  stepper.step(scene->data, 1, &report);
  EXPECT_TRUE(report.ok()) << report.message;
  EXPECT_LT(std::abs(scene->data->qvel[0]), 1e-7);
  EXPECT_EQ(report.contacts.size(), 1);
  return -report.contacts.distance[0];
}

class HertzInSimulation : public testing::TestWithParam<ContactModel> {};

TEST_P(HertzInSimulation, BallRestsAtHertzsDepth) {
  const double R = 0.05, weight = 1.2 * kGravity, modulus = kE / (1 - kNu * kNu);
  const auto calc_depth = [&](double E_star, double radius) {
    return std::pow(0.75 * weight / (E_star * std::sqrt(radius)), 2.0 / 3);
  };
  Scene on_plane = make_scene(R"(type="plane" size="1 1 1")", R"(size="0.05" pos="0 0 0.0495")");
  plant::MaterialTable table = plant::make_default_materials(on_plane.model);
  table.geoms[1] = make_rubber();
  EXPECT_NEAR(settle(&on_plane, make_hertz(GetParam()), table) / calc_depth(modulus, R), 1, 1e-6);

  Scene on_ball = make_scene(R"(size="0.02")", R"(size="0.05" pos="0 0 0.069")");
  table.geoms[0] = make_rubber(2 * kE, 0.2);
  const double E_star = 1 / (1 / modulus + (1 - 0.04) / (2 * kE));
  EXPECT_NEAR(
      settle(&on_ball, make_hertz(GetParam()), table) / calc_depth(E_star, 1 / (1 / 0.02 + 1 / R)),
      1, 1e-6);
}

TEST_P(HertzInSimulation, CrossedCylindersOfOneRadiusAreABallOnAPlane) {
  // The closed form of equal cylinders at a right angle: f = 4/3 E* sqrt(R) x^(3/2).
  Scene scene = make_scene(R"(type="capsule" size="0.03 0.2" euler="90 0 0")",
                           R"(type="capsule" size="0.03 0.2" euler="0 90 0" pos="0 0 0.0595")");
  const plant::MaterialTable table = make_materials(scene, make_rubber());
  const double E_star = 0.5 * kE / (1 - kNu * kNu);
  const double depth = std::pow(0.75 * 1.2 * kGravity / (E_star * std::sqrt(0.03)), 2.0 / 3);
  EXPECT_NEAR(settle(&scene, make_hertz(GetParam()), table) / depth, 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Models, HertzInSimulation,
                         testing::Values(ContactModel::lagged, ContactModel::lagged_regularized,
                                         ContactModel::similar, ContactModel::coulomb),
                         model_name);

TEST(ElasticPatch, SlabIsAsStiffAsElasticityUnderPlaneStrain) {
  // A slab of the thickness h under the pressure p on both faces becomes thinner by
  // p h (1 - nu^2)/E. The field gives each face half of this.
  const double half = 0.02, side = 0.2;
  Scene scene(support::make_mjcf(
      "timestep='0.001'",
      R"(<worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.0199"><freejoint/>
<geom type="box" size="0.2 0.2 0.02" mass="50"/></body></worldbody>)"));
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.geoms[0].rigid = true;
  table.geoms[1] = make_rubber();
  table.geoms[1].compliant = true;
  Stepper stepper(scene.model, make_options(ContactModel::coulomb, 1e-9), table);
  run(&stepper, &scene, 3000);
  const double pressure = 50 * kGravity / (4 * side * side);
  const double depth = pressure * half * (1 - kNu * kNu) / kE;
  // The field falls to 0 at the sides, within `depth` of them.
  EXPECT_NEAR((half - scene.data->qpos[2]) / depth, 1, 4 * depth / side);
}

TEST(ElasticExplanation, SaysWhereTheStiffnessIsFrom) {
  Scene scene = make_scene(R"(name="rod" type="capsule" size="0.03 0.2" euler="90 0 0")",
                           R"(name="ball" size="0.05" pos="0 0 0.0795")");
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.geoms[1] = make_rubber();
  table.sources[1].youngs_modulus = table.sources[1].poissons_ratio = "f:3";
  const auto find = [&](const std::string& name) {
    const auto explained =
        explain_pair(scene.model, table, make_hertz(ContactModel::coulomb), 0, 1);
    for (const ExplainedNumber& number : explained.numbers)
      if (number.name == name) return number;
    ADD_FAILURE() << "there is no " << name;
    return ExplainedNumber{};
  };
  const ExplainedNumber modulus = find("contact_modulus"), k_h = find("hertz_stiffness");
  EXPECT_DOUBLE_EQ(modulus.value, kE / (1 - kNu * kNu));
  EXPECT_NE(modulus.from.find("E = 5e+06 Pa (f:3) and nu = 0.4"), std::string::npos)
      << modulus.from;
  EXPECT_TRUE(k_h.is_used);
  EXPECT_NE(k_h.note.find("each step takes the curvature"), std::string::npos) << k_h.note;
  EXPECT_NE(k_h.note.find("0.01875 and 0.05 m"), std::string::npos) << k_h.note;
  // It is the stiffness of the step: the ball rests at its depth.
  const double depth = settle(&scene, make_hertz(ContactModel::coulomb), table);
  EXPECT_NEAR(k_h.value * std::pow(depth, 1.5) / (1.2 * kGravity), 1, 1e-6);
}

TEST(ElasticExplanation, SaysHowSharpEdgesAreRounded) {
  // A ball over an edge of a brick.
  Scene scene = make_scene(R"(name="brick" type="box" size="0.03 0.02 0.05")",
                           R"(name="ball" size="0.01" pos="0.035 0.025 0")");
  plant::MaterialTable table = plant::make_default_materials(scene.model);
  table.geoms[1] = make_rubber();
  std::vector<double> radii;
  for (const ExplainedNumber& number :
       explain_pair(scene.model, table, make_hertz(ContactModel::coulomb), 0, 1).numbers) {
    if (!number.name.starts_with("edge radius")) continue;
    EXPECT_EQ(number.name, "edge radius, geom 'brick'");
    radii.push_back(number.value);
  }
  ASSERT_EQ(radii.size(), 1u);
  EXPECT_EQ(radii[0], 0.02);
  // It is the radius of the step.
  mj_forward(scene.model, scene.data);
  ASSERT_EQ(scene.data->ncon, 1);
  const auto at = plant::calc_hertz_curvature(scene.model, scene.data, scene.data->contact[0]);
  EXPECT_TRUE(at.is_rounded);
  EXPECT_NEAR(at.most, 1 / 0.01 + 1 / radii[0], 1e-9);
}

}  // namespace
}  // namespace stiction::sim::hertz_test
