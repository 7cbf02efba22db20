// Thin and deep bodies in pressure-field contact: a body is pressed into another to one and a half
// times its thickness and back. The force must not decrease on the way in, nor pull, and it must be
// that of the fields, integrated by brute force, as long as these have one.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/stepping.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModel;
using contact::DeepPatches;
using support::Scene;

constexpr double kModulus = 1e6, kStep = 1e-3;

enum class Kind { rigid, soft };

/// A body that is pressed down into a fixed one. The first touch is at z = 0 of the moving joint.
struct Press {
  const char* name;
  std::string lower, upper;  // geoms that touch
  Kind lower_kind, upper_kind;
  double depth;  // up to which the upper body is pressed [m]
  /// The force of the fields at a depth, integrated without meshes; null if it is not known.
  std::function<double(double)> field_force;
  double field_depth;  // depth up to which it holds [m]
};

void PrintTo(const Press& press, std::ostream* out) { *out << press.name; }

/// Integrates E / L min(depth, distance to the sides, 2 L - depth) over the section of a box with
/// the half width a in a plane.
double integrate_box(double a, double L, double depth) {
  constexpr int n = 2000;
  const double least = std::min(depth, 2 * L - depth);
  double sum = 0;
  // The distance to the sides depends on max(|x|, |y|): integrate over squares.
  for (int i = 0; i < n; ++i) {
    const double r = a * (i + 0.5) / n;
    sum += std::min(least, a - r) * 8 * r * a / n;
  }
  return kModulus / L * sum;
}

/// Integrates E (1 - |x| / R) over the section of a ball in a plane at the distance R - depth from
/// its center.
double integrate_ball(double R, double depth) {
  constexpr int n = 2000;
  const double z = R - depth, a = std::sqrt(std::max(0.0, R * R - z * z));
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double r = a * (i + 0.5) / n;
    sum += (1 - std::hypot(r, z) / R) * 2 * M_PI * r * a / n;
  }
  return kModulus * sum;
}

std::vector<Press> make_presses() {
  const std::string plane = R"(type="plane" size="1 1 1")";
  const std::string plate = R"(type="box" size="0.05 0.05 0.0005")";
  const std::string low_plate = plate + R"( pos="0 0 -0.0005")",
                    high_plate = plate + R"( pos="0 0 0.0005")";
  const std::string block = R"(type="box" size="0.1 0.1 0.1" pos="0 0 -0.1")";
  const std::string ball = R"(size="0.05" pos="0 0 0.05")";
  const std::string wall = R"(type="box" size="0.2 0.2 0.0005" pos="0 0 -0.0005")";
  const auto plate_force = [](double d) { return integrate_box(0.05, 0.0005, d); };
  const auto ball_force = [](double d) { return integrate_ball(0.05, d); };
  return {
      {"SoftPlateOnRigidPlane", plane, high_plate, Kind::rigid, Kind::soft, 1.5e-3, plate_force,
       4.5e-4},
      {"SoftPlateInRigidBlock", block, high_plate, Kind::rigid, Kind::soft, 1.5e-3, plate_force,
       4.5e-4},
      {"SoftPlateInSoftBlock", block, high_plate, Kind::soft, Kind::soft, 1.5e-3, nullptr, 0},
      {"SoftPlateOnSoftPlate", low_plate, high_plate, Kind::soft, Kind::soft, 1.5e-3, nullptr, 0},
      {"RigidPlateInSoftBlock", block, high_plate, Kind::soft, Kind::rigid, 1.5e-3, nullptr, 0},
      {"RigidBlockOnSoftPlate", low_plate, R"(type="box" size="0.02 0.02 0.1" pos="0 0 0.1")",
       Kind::soft, Kind::rigid, 1.5e-3, nullptr, 0},
      {"SoftBallOnRigidPlane", plane, ball, Kind::rigid, Kind::soft, 0.15, ball_force, 0.045},
      {"SoftBallThroughRigidWall", wall, ball, Kind::rigid, Kind::soft, 0.15, ball_force, 0.03},
      {"SoftBallThroughSoftWall", wall, ball, Kind::soft, Kind::soft, 0.15, nullptr, 0},
  };
}

plant::Material make_material(Kind kind) {
  plant::Material material = plant::kDefaultMaterial;
  material.law.dissipation = material.law.relaxation_time = 0;
  if (kind == Kind::rigid)
    material.rigid = true;
  else
    material.hydroelastic_modulus = kModulus;
  material.resolution_hint = 0.01;
  return material;
}

/// The force at a depth on the way in or back.
struct Sample {
  double depth, force, lateral;
  bool is_deep;
};

constexpr int kNumSteps = 150;

/// Presses the upper body in at a constant speed and pulls it back. It is so heavy that the force
/// does not slow it down.
std::vector<Sample> press(const Press& scene_of, ContactModel model, DeepPatches rule) {
  Scene scene(support::make_mjcf(
      R"(timestep="0.001" gravity="0 0 0")",
      "<worldbody><geom name='lower' " + scene_of.lower +
          " friction='0'/><body><joint type='slide' axis='0 0 1'/><geom name='upper' mass='1e12' "
          "friction='0' " +
          scene_of.upper + "/></body></worldbody>"));
  plant::MaterialTable materials = plant::make_default_materials(scene.model);
  materials.geoms[scene.geom("lower")] = make_material(scene_of.lower_kind);
  materials.geoms[scene.geom("upper")] = make_material(scene_of.upper_kind);
  StepOptions options = make_options(model, 1e-9);
  options.surfaces.deep_patches = rule;
  Stepper stepper(scene.model, options, materials);
  const double speed = scene_of.depth / (kNumSteps * kStep);
  scene.data->qpos[0] = -1e-3 * scene_of.depth;
  std::vector<Sample> samples;
  StepReport report;
  for (int i = 0; i < 2 * kNumSteps; ++i) {
    scene.data->qvel[0] = i < kNumSteps ? -speed : speed;
    stepper.step(scene.data, 1, &report);
    EXPECT_TRUE(report.ok()) << report.message;
    Sample sample = {.depth = -scene.data->qpos[0], .force = 0, .lateral = 0, .is_deep = false};
    for (int p = 0; p < report.patches.size(); ++p) {
      const double sign = report.patches.geoms[2 * p + 1] == scene.geom("upper") ? 1 : -1;
      sample.force += sign * report.patches.force[3 * p + 2];
      sample.lateral += std::hypot(report.patches.force[3 * p], report.patches.force[3 * p + 1]);
      sample.is_deep |= report.patches.is_deep[p] != 0;
    }
    samples.push_back(sample);
  }
  return samples;
}

class DeepPress : public testing::TestWithParam<std::tuple<Press, ContactModel>> {
 protected:
  const Press& scene() const { return std::get<0>(GetParam()); }
  ContactModel model() const { return std::get<1>(GetParam()); }
};

TEST_P(DeepPress, ForceNeitherDecreasesNorPulls) {
  const std::vector<Sample> samples = press(scene(), model(), DeepPatches::extend);
  double most = 0;
  for (int i = 0; i < kNumSteps; ++i) {
    // The fields may fluctuate by a hundredth before their extension begins.
    EXPECT_GE(samples[i].force, 0.99 * most) << "at " << samples[i].depth;
    EXPECT_GT(samples[i].force, 0) << "at " << samples[i].depth;
    most = std::max(most, samples[i].force);
  }
  for (const Sample& sample : samples) EXPECT_GE(sample.force, 0) << "at " << sample.depth;
}

TEST_P(DeepPress, WayBackHasTheForceOfTheWayIn) {
  // The force of a step is that of its end, so a sample of the way back has its twin one step
  // earlier on the way in.
  const std::vector<Sample> samples = press(scene(), model(), DeepPatches::extend);
  const double most = samples[kNumSteps - 1].force;
  for (int i = 1; i < kNumSteps; ++i) {
    const Sample& back = samples[kNumSteps - 1 + i];
    const Sample& in = samples[kNumSteps - 1 - i];
    ASSERT_NEAR(back.depth, in.depth, 1e-9);
    EXPECT_NEAR(back.force, in.force, 0.02 * most) << "at " << in.depth;
  }
}

TEST_P(DeepPress, IsThatOfTheFieldsWhileTheyHaveOne) {
  if (!scene().field_force) GTEST_SKIP() << "has no closed form";
  for (const Sample& sample : press(scene(), model(), DeepPatches::extend)) {
    if (sample.depth > scene().field_depth || sample.depth < 0.2 * scene().field_depth) continue;
    const double expected = scene().field_force(sample.depth);
    // The edges of a ball's mesh have up to 12 mm and are inscribed by up to 0.4 mm. The force
    // grows with the square of the depth.
    const bool is_ball = scene().upper.starts_with("size");
    const double error = is_ball ? 2 * 0.4e-3 / sample.depth + 0.01 : 1e-3;
    EXPECT_NEAR(sample.force, expected, error * expected) << "at " << sample.depth;
  }
}

std::vector<ContactModel> models_with_patches() {
  std::vector<ContactModel> models;
  for (const contact::ContactModelTraits& traits : contact::contact_models())
    if (traits.takes_patches && !traits.is_mj_step) models.push_back(traits.model);
  return models;
}

INSTANTIATE_TEST_SUITE_P(All, DeepPress,
                         testing::Combine(testing::ValuesIn(make_presses()),
                                          testing::ValuesIn(models_with_patches())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(contact::traits(std::get<1>(info.param)).name);
                         });

/// Without the extension a field loses its force, which is what the extension is for.
TEST(DeepField, LosesItsForce) {
  for (const Press& scene : make_presses()) {
    // The soft block is so thick that its field does not end.
    if (scene.lower_kind == Kind::soft && scene.lower.find("0.1 0.1 0.1") != std::string::npos)
      continue;
    const std::vector<Sample> samples = press(scene, ContactModel::coulomb, DeepPatches::field);
    double most = 0;
    for (const Sample& sample : samples) most = std::max(most, sample.force);
    EXPECT_LT(samples[kNumSteps - 1].force, 0.5 * most) << scene.name;
  }
}

/// A plate that is pressed deep into a block and then pulled sideways loses the contact where it
/// leaves the block.
TEST(DeepPress, EndsBesideTheOtherBody) {
  Scene scene(support::make_mjcf(R"(timestep="0.001" gravity="0 0 0")",
                                 R"(<worldbody><geom type="box" size="0.1 0.1 0.1" pos="0 0 -0.1"/>
<body><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>
<geom type="box" size="0.02 0.02 0.0005" pos="0 0 0.0005" mass="1e12" friction="0"/></body></worldbody>)"));
  plant::MaterialTable materials = plant::make_default_materials(scene.model);
  materials.geoms[0] = make_material(Kind::rigid);
  materials.geoms[1] = make_material(Kind::soft);
  Stepper stepper(scene.model, make_options(ContactModel::coulomb), materials);
  StepReport report;
  const auto step = [&](double vz, double vx) {
    scene.data->qvel[0] = vz;
    scene.data->qvel[1] = vx;
    stepper.step(scene.data, 1, &report);
    EXPECT_TRUE(report.ok()) << report.message;
    return report.patches.size() > 0 ? std::abs(report.patches.force[2]) : 0.0;
  };
  double deep = 0;
  for (int i = 0; i < 120; ++i) deep = step(-0.01, 0);
  EXPECT_GT(deep, 0);
  double before = deep;
  for (int i = 0; i < 130; ++i) {
    const double force = step(0, 1);
    const double x = scene.data->qpos[1];
    if (x < 0.07) {
      EXPECT_NEAR(force, deep, 1e-6 * deep) << x;
    }
    EXPECT_LE(force, before * (1 + 1e-6)) << x;
    if (x > 0.125) {
      EXPECT_EQ(force, 0) << x;
    }
    before = force;
  }
}

}  // namespace
}  // namespace stiction::sim
