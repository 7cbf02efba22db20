// Every normal law with every friction regularization, in small simulations whose steps must pass
// their certificates.
#include <cmath>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/base/error.hpp"
#include "stiction/contact/custom_law.hpp"

namespace stiction::sim::laws_test {
namespace {

using contact::ContactModel;
using contact::ModelParameters;
using contact::NormalLawKind;
using support::Scene;

constexpr double kStep = 2e-3, kGravity = 9.81;

struct Choice {
  ContactModel model;
  NormalLawKind law;
  contact::FrictionRegularizationKind friction;
};

std::string describe(const Choice& choice) {
  std::string name(contact::traits(choice.model).name);
  name.append("_").append(contact::traits(choice.law).name);
  name.append("_").append(contact::name_of(choice.friction));
  return name;
}
void PrintTo(const Choice& choice, std::ostream* out) { *out << describe(choice); }

class LawsInSimulation : public testing::TestWithParam<Choice> {
 protected:
  StepOptions options() const {
    StepOptions options = make_options(GetParam().model);
    options.parameters.normal_law = GetParam().law;
    options.parameters.friction_law = GetParam().friction;
    return options;
  }
  bool is_barrier() const { return contact::traits(GetParam().law).is_barrier; }
};

/// A geom above a plane.
Scene make_scene(const std::string& geom, double height) {
  return Scene(support::make_mjcf(R"(timestep="0.002")",
                                  R"(<worldbody><geom type="plane" size="50 50 1" friction="0.4"/>
<body pos="0 0 )" + std::to_string(height) +
                                      R"("><freejoint/><geom friction="0.4" mass="1.5" )" + geom +
                                      "/></body></worldbody>"));
}

double calc_energy(const Scene& scene) {
  const mjtNum* v = scene.data->qvel;
  const mjtNum* I = scene->body_inertia + 3;
  double twice = 0;
  for (int i = 0; i < 3; ++i) twice += 1.5 * v[i] * v[i] + I[i] * v[3 + i] * v[3 + i];
  return twice / 2 + 1.5 * kGravity * scene.data->qpos[2];
}

TEST_P(LawsInSimulation, DroppedSphereComesToRest) {
  Scene scene = make_scene(R"(type="sphere" size="0.1")", 0.12);
  Stepper stepper(scene.model, options());
  double energy = calc_energy(scene), highest = energy;
  for (int i = 0; i < 1000; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
    EXPECT_GE(report.certificate.min_normal_impulse, 0);
    EXPECT_LE(report.certificate.max_friction_work, 1e-12);
    highest = std::max(highest, calc_energy(scene));
    // Barriers are not crossed, and no other law lets it sink by much.
    EXPECT_GT(scene.data->qpos[2], is_barrier() ? 0.1 : 0.0985) << "step " << i;
  }
  EXPECT_LE(highest, energy * (1 + 1e-9)) << "contact adds no energy";
  EXPECT_LE(mju_norm(scene.data->qvel, 6), 1e-3);
  // At rest it carries its weight.
  const StepReport& report = stepper.step(scene.data);
  double impulse = 0;
  for (const double n : report.contacts.normal_impulse) impulse += n;
  EXPECT_NEAR(impulse, 1.5 * kGravity * kStep, 1e-3 * 1.5 * kGravity * kStep);
}

TEST_P(LawsInSimulation, SlidingBoxStopsByFriction) {
  Scene scene = make_scene(R"(type="box" size="0.1 0.1 0.05")", 0.0505);
  Stepper stepper(scene.model, options());
  run(&stepper, &scene, 300);  // until it is at rest
  scene.data->qvel[0] = 1;
  const double x0 = scene.data->qpos[0];
  double lost = 0;
  for (int i = 0; i < 300; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message << " in step " << i;
    EXPECT_LE(report.certificate.max_cone_excess, 1e-12);
    if (i == 49) lost = 1 - scene.data->qvel[0];
  }
  // Friction takes mu g t. A model that lifts the box by mu dt v also lets it fall again.
  const double expected = 0.4 * kGravity * 50 * kStep;
  const bool is_lifted = contact::traits(GetParam().model).lifts_sliding;
  EXPECT_NEAR(lost, expected, (is_lifted ? 0.1 : 0.02) * expected);
  EXPECT_LE(std::abs(scene.data->qvel[0]), 1e-5) << "stiction holds it";
  EXPECT_NEAR(scene.data->qpos[0] - x0, 1 / (2 * 0.4 * kGravity), 0.02);
}

std::vector<Choice> make_choices() {
  std::vector<Choice> choices;
  for (const auto& law : contact::normal_laws())
    for (const std::string_view friction : contact::friction_regularization_names())
      for (const ContactModel model : support::models_with_laws())
        choices.push_back({model, law.law, contact::parse_friction_regularization(friction)});
  return choices;
}

INSTANTIATE_TEST_SUITE_P(All, LawsInSimulation, testing::ValuesIn(make_choices()),
                         [](const auto& info) { return describe(info.param); });

struct QuadraticSpring {
  contact::NormalForce calc_force(double x, double xdot) const noexcept {
    const double c = 1 + 5 * xdot;
    return x > 0 && c > 0 ? contact::NormalForce{1e9 * x * x * c, 2e9 * x * c, 5e9 * x * x}
                          : contact::NormalForce{};
  }
};

TEST(CustomLaws, SphereRestsWhereTheForceIsItsWeight) {
  Scene scene = make_scene(R"(type="sphere" size="0.1")", 0.101);
  StepOptions options = make_options(ContactModel::lagged);
  options.parameters.normal_law = NormalLawKind::custom;
  options.parameters.custom_law = contact::make_custom_law(QuadraticSpring{});
  Stepper stepper(scene.model, options);
  run(&stepper, &scene, 2000);
  EXPECT_NEAR(0.1 - scene.data->qpos[2], std::sqrt(1.5 * kGravity / 1e9), 1e-8);
}

TEST(CustomLaws, MustBeGiven) {
  StepOptions options;
  options.parameters.normal_law = NormalLawKind::custom;
  EXPECT_THROW(validate(options), Error);
}

}  // namespace
}  // namespace stiction::sim::laws_test
