// Pressure-field contact in the step, compared with closed forms and with MuJoCo's own arrays.
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/geometry/shapes.hpp"
#include "stiction/sim/options/pair_explanation.hpp"

namespace stiction::sim::patches_test {
namespace {

using contact::ContactModel;
using geometry::Quadrature;
using geometry::Tessellation;
using support::Scene;

constexpr double kGravity = 9.81, kModulus = 1e5;
constexpr double kHalf = 0.05, kMass = 0.8;  // of the box

plant::Material make_soft(double modulus = kModulus) {
  plant::Material material = plant::kDefaultMaterial;
  material.hydroelastic_modulus = modulus;
  material.law.dissipation = 10;
  return material;
}

plant::Material make_rigid() {
  plant::Material material = plant::kDefaultMaterial;
  material.rigid = true;
  return material;
}

/// A body with one geom over a floor.
struct BodyOnFloor {
  explicit BodyOnFloor(const std::string& geom, const std::string& options = "",
                       const std::string& floor = "", const std::string& more = "")
      : scene(support::make_mjcf(
            R"(timestep="0.002" )" + options,
            R"(<worldbody><geom name="floor" type="plane" size="5 5 1" )" + floor +
                R"(/><body name="body"><freejoint name="free"/><geom name="body" )" + geom +
                R"(/><site name="site" size="0.3"/></body></worldbody>)" + more)),
        materials(plant::make_default_materials(scene.model)) {
    materials.geoms[scene.geom("floor")] = make_rigid();
    materials.geoms[scene.geom("body")] = make_soft();
  }

  Scene scene;
  plant::MaterialTable materials;
};

constexpr const char* kBox = R"(type="box" size="0.05 0.05 0.05" mass="0.8")";

/// Returns the depth at which the box rests. Its pressure on the floor is E/half times the smaller
/// of the depth and the distance to the nearest side. On a square of side a this gives F = E/half
/// (a^2 depth - 2 a depth^2 + 4/3 depth^3).
double calc_rest_depth() {
  constexpr double a = 2 * kHalf;
  double depth = 0;
  for (int i = 0; i < 50; ++i)
    depth = (kMass * kGravity * kHalf / kModulus + 2 * a * depth * depth -
             4.0 / 3 * depth * depth * depth) /
            (a * a);
  return depth;
}

class Patches : public testing::TestWithParam<ContactModel> {};

TEST_P(Patches, BoxRestsWherePressureCarriesIt) {
  BodyOnFloor box(kBox);
  Stepper stepper(box.scene.model, make_options(GetParam(), 1e-9), box.materials);
  box.scene.data->qpos[2] = kHalf - 0.5 * calc_rest_depth();
  run(&stepper, &box.scene, 1500);
  EXPECT_NEAR(box.scene.data->qpos[2], kHalf - calc_rest_depth(), 1e-3 * calc_rest_depth());

  StepReport report;
  stepper.step(box.scene.data, 1, &report);
  ASSERT_TRUE(report.ok()) << report.message;
  ASSERT_EQ(report.patches.size(), 1);
  const PatchReport& patch = report.patches;
  // A is the floor, B the box, which it lifts.
  EXPECT_EQ(patch.geoms[0], box.scene.geom("floor"));
  EXPECT_NEAR(patch.force[2], kMass * kGravity, 1e-6 * kMass * kGravity);
  EXPECT_NEAR(patch.area[0], 4 * kHalf * kHalf, 1e-12);
  EXPECT_NEAR(patch.center[2], 0, 1e-12);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(patch.torque[i], 0, 1e-8);
  for (int f = 0; f < patch.num_faces(); ++f)
    EXPECT_NEAR(patch.normal_traction[f], patch.pressure[f], 1e-3 * patch.pressure[f]);
}

TEST_P(Patches, BoxSticksOnASlopeAndSlidesOnASteeperOne) {
  for (const double slope : {0.3, 0.9}) {  // tan; friction 0.6
    const double angle = std::atan(slope), g_n = kGravity * std::cos(angle),
                 g_t = kGravity * std::sin(angle);
    char gravity[100];
    std::snprintf(gravity, sizeof gravity, R"(gravity="%.12g 0 %.12g")", g_t, -g_n);
    // Flat, so that it does not rock.
    BodyOnFloor box(R"(type="box" size="0.05 0.05 0.005" mass="0.8" friction="0.6")", gravity,
                    R"(friction="0.6")");
    Stepper stepper(box.scene.model, make_options(GetParam(), 1e-8), box.materials);
    box.scene.data->qpos[2] = 0.005 - 0.1 * calc_rest_depth();
    run(&stepper, &box.scene, 250);
    const double v = box.scene.data->qvel[0];
    const bool is_lifted = contact::traits(GetParam()).lifts_sliding;
    if (slope < 0.6) {
      EXPECT_LT(v, 2e-4);
      continue;
    }
    const double acceleration = g_t - 0.6 * g_n, t = box.scene.data->time;
    // SAP and Similar lift a sliding body, which then rocks. Its speed depends on the phase.
    if (!is_lifted) {
      EXPECT_NEAR(v, acceleration * t, 0.02);
    }
    const double way = 0.5 * acceleration * t * t;
    EXPECT_NEAR(box.scene.data->qpos[0], way, 0.02 * way);
  }
}

/// Every point's impulse is the velocity-level law of [masterjohn2022], from what the report says.
TEST(PatchLaw, ImpulseFollowsPressureGradientAndVelocity) {
  BodyOnFloor ball(R"(size="0.06" mass="0.3" friction="0")", "", R"(friction="0")");
  StepOptions options = make_options(ContactModel::lagged, 1e-11);
  ball.materials.geoms[ball.scene.geom("body")].resolution_hint = 0.02;
  Stepper stepper(ball.scene.model, options, ball.materials);
  ball.scene.data->qpos[2] = 0.05;
  ball.scene.data->qvel[2] = -0.7;
  StepReport report;
  stepper.step(ball.scene.data, 1, &report);
  ASSERT_TRUE(report.ok()) << report.message;
  const PatchReport& patch = report.patches;
  ASSERT_GT(patch.num_faces(), 20);
  const double dt = 0.002, d = 10, vn = ball.scene.data->qvel[2];
  double force = 0;
  for (int f = 0; f < patch.num_faces(); ++f) {
    // A sphere's field is E (1 - r/R), up to the chords of its mesh: its gradient E/R along the
    // radius, of which the normal sees the cosine.
    const double* x = patch.face_center.data() + 3 * f;
    const double z = x[2] - 0.05, r = std::sqrt(x[0] * x[0] + x[1] * x[1] + z * z);
    const double g = kModulus / 0.06 * std::abs(z) / r;
    const double expected =
        std::max(0.0, patch.pressure[f] - dt * g * vn) * std::max(0.0, 1 - d * vn);
    EXPECT_NEAR(patch.normal_traction[f], expected, 0.06 * expected);
    force += patch.normal_traction[f] * patch.face_area[f];
  }
  EXPECT_NEAR(force, patch.force[2], 1e-9 * force);
}

TEST(PatchContact, MuJoCoSeesTheWholeWrench) {
  for (const char* cone : {"elliptic", "pyramidal"}) {
    BodyOnFloor box(kBox, R"(cone=")" + std::string(cone) + "\"", "",
                    R"(<sensor><touch name="touch" site="site"/></sensor>)");
    Stepper stepper(box.scene.model, make_options(ContactModel::lagged), box.materials);
    box.scene.data->qpos[2] = kHalf - calc_rest_depth();
    box.scene.data->qpos[4] = 0.02;  // a small tilt: the pressure is not even
    box.scene.data->qvel[0] = 0.3;
    StepReport report;
    stepper.step(box.scene.data, 1, &report);
    ASSERT_TRUE(report.ok()) << report.message;
    const mjData* d = box.scene.data;
    ASSERT_EQ(d->ncon, 1);
    EXPECT_EQ(d->contact[0].dim, 6);
    mjtNum local[6], force[3], torque[3], arm[3];
    mj_contactForce(box.scene.model, d, 0, local);
    mju_mulMatTVec3(force, d->contact[0].frame, local);
    mju_mulMatTVec3(torque, d->contact[0].frame, local + 3);
    for (int i = 0; i < 3; ++i) arm[i] = d->contact[0].pos[i] - report.patches.center[i];
    mjtNum moved[3];
    mju_cross(moved, arm, force);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(force[i], report.patches.force[i], 1e-9);
      EXPECT_NEAR(torque[i] + moved[i], report.patches.torque[i], 1e-9);
    }
    EXPECT_NEAR(d->sensordata[0], report.patches.force[2], 1e-9);
  }
}

/// Linear pressure on the bottom of a tilted box: force and moment by integration over the square.
TEST(PatchQuadrature, MomentExactIsExact) {
  constexpr double kTilt = 0.02, kDepth = 0.004;
  for (const Tessellation tessellation : {Tessellation::polygon, Tessellation::triangle}) {
    double moment[2];
    for (const Quadrature quadrature : {Quadrature::centroid, Quadrature::moment_exact}) {
      // So heavy that it hardly moves.
      BodyOnFloor box(R"(type="box" size="0.05 0.05 0.05" mass="1e5" friction="0")",
                      R"(gravity="0 0 0")", R"(friction="0")");
      StepOptions options = make_options(ContactModel::lagged, 1e-12);
      options.surfaces = {tessellation, quadrature};
      Stepper stepper(box.scene.model, options, box.materials);
      mjtNum* q = box.scene.data->qpos;
      q[2] = kHalf - kDepth;
      q[3] = std::cos(kTilt / 2);
      q[5] = std::sin(kTilt / 2);
      const mjtNum x0 = q[0];
      StepReport report;
      stepper.step(box.scene.data, 1, &report);
      ASSERT_TRUE(report.ok()) << report.message;
      const PatchReport& patch = report.patches;
      // About the body's center.
      const double arm = patch.center[0] - x0, lever = patch.center[2] - (kHalf - kDepth);
      moment[quadrature == Quadrature::moment_exact] =
          patch.torque[1] + lever * patch.force[0] - arm * patch.force[2];
    }
    // p = E/half times the distance to the box's nearest side, at the points of the floor.
    double exact = 0;
    constexpr int kCells = 2000;  // a few 1e-5 of it
    constexpr double kReach = 1.2 * kHalf, kCell = 2 * kReach / kCells;
    for (int i = 0; i < kCells; ++i) {
      for (int j = 0; j < kCells; ++j) {
        const double x = (i + 0.5) * kCell - kReach, y = (j + 0.5) * kCell - kReach;
        const double z = -(kHalf - kDepth);
        const double local_x = std::cos(kTilt) * x - std::sin(kTilt) * z;
        const double local_z = std::sin(kTilt) * x + std::cos(kTilt) * z;
        const double inside = kHalf - std::max({std::abs(local_x), std::abs(y), std::abs(local_z)});
        exact -= x * kModulus / kHalf * std::max(0.0, inside) * kCell * kCell;
      }
    }
    EXPECT_NEAR(moment[1], exact, 1e-4 * std::abs(exact));
    EXPECT_GT(std::abs(moment[0] - moment[1]), 5e-3 * std::abs(exact));
  }
}

TEST(PatchFallback, RigidPairsTouchInPoints) {
  BodyOnFloor box(kBox);
  box.materials.geoms[box.scene.geom("body")] = make_rigid();
  Stepper stepper(box.scene.model, {}, box.materials);
  box.scene.data->qpos[2] = kHalf - 1e-4;
  StepReport report;
  stepper.step(box.scene.data, 1, &report);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_EQ(report.patches.size(), 0);
  ASSERT_EQ(report.contacts.size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(report.contacts.patch[i], -1);
    EXPECT_EQ(report.contacts.is_fallback[i], 1);
  }
}

TEST(PatchFallback, PatchesAndPointsSideBySide) {
  // A soft box, and on it a box without a pressure field.
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body pos="0 0 0.0498"><freejoint/><geom name="soft" type="box" size="0.05 0.05 0.05"/></body>
    <body pos="0 0 0.1495"><freejoint/><geom name="plain" type="box" size="0.05 0.05 0.05"/></body>
    </worldbody>)"));
  plant::MaterialTable materials = plant::make_default_materials(scene.model);
  materials.geoms[scene.geom("floor")] = make_rigid();
  materials.geoms[scene.geom("soft")] = make_soft(1e6);
  Stepper stepper(scene.model, make_options(ContactModel::coulomb), materials);
  StepReport report;
  for (int i = 0; i < 300; ++i) {
    stepper.step(scene.data, 1, &report);
    ASSERT_TRUE(report.ok()) << report.message;
  }
  EXPECT_EQ(report.patches.size(), 1);
  int num_points = 0;
  double lift = 0;
  for (int i = 0; i < report.contacts.size(); ++i) {
    num_points += report.contacts.patch[i] < 0;
    if (report.contacts.patch[i] < 0) lift += report.contacts.impulse[3 * i + 2];
  }
  EXPECT_EQ(num_points, 4);
  const double weight = kGravity * scene->body_mass[2];
  EXPECT_NEAR(lift / 0.002, weight, 1e-2 * weight);
  EXPECT_NEAR(report.patches.force[2], 2 * weight, 1e-2 * weight);
}

TEST(PatchLimits, WarnsOfThinAndDeepContact) {
  BodyOnFloor plate(R"(type="box" size="0.05 0.05 0.001" mass="0.1")");
  Stepper stepper(plate.scene.model, {}, plate.materials);
  plate.scene.data->qpos[2] = 0.0009;
  plate.scene.data->qvel[2] = -1;  // 2 mm a step, through a plate with 1 mm to its medial axis
  StepReport report;
  stepper.step(plate.scene.data, 1, &report);
  ASSERT_EQ(report.patches.size(), 1);
  EXPECT_TRUE(report.patches.is_thin[0]);
  EXPECT_EQ(report.num_warnings, 1);
  EXPECT_NE(report.warning.str().find("geom 'body'"), std::string::npos) << report.warning;

  plate.scene.data->qpos[2] = -0.0002;  // beyond the middle
  plate.scene.data->qvel[2] = 0;
  stepper.step(plate.scene.data, 1, &report);
  ASSERT_EQ(report.patches.size(), 1);
  EXPECT_TRUE(report.patches.is_deep[0]);
  EXPECT_EQ(report.num_warnings, 1);
}

TEST(PatchLimits, ExplanationSaysWhereTheFieldsEnd) {
  using contact::DeepPatches;
  for (const DeepPatches rule : {DeepPatches::field, DeepPatches::extend}) {
    BodyOnFloor box(kBox);
    StepOptions options = make_options(ContactModel::coulomb);
    options.surfaces.deep_patches = rule;
    double end = 0;
    for (const ExplainedNumber& number :
         explain_pair(box.scene.model, box.materials, options, 0, 1).numbers) {
      if (number.name != "end of the fields") continue;
      end = number.value;
      EXPECT_EQ(number.from, "deep_patches = " + std::string(contact::name_of(rule)));
    }
    // The pressure of the floor's patch is the share of the depth in the box's half size.
    for (const double share : {end - 0.01, end + 0.01}) {
      Stepper stepper(box.scene.model, options, box.materials);
      mj_resetData(box.scene.model, box.scene.data);
      box.scene.data->qpos[2] = (1 - share) * kHalf;
      const StepReport& report = stepper.step(box.scene.data);
      ASSERT_EQ(report.patches.size(), 1);
      EXPECT_EQ(report.patches.is_deep[0], share > end) << share;
    }
  }
}

TEST(PatchLimits, WarnsOfBodiesThatMayPassUnseen) {
  struct Case {
    double height, speed;
    bool is_warned;
  };
  // A ball of 20 mm that covers 2 mm, 60 mm, 60 mm upward; one behind the floor.
  for (const auto& [height, speed, is_warned] :
       {Case{0.05, -1, false}, Case{0.05, -30, true}, Case{0.05, 30, false}, Case{0.5, -30, false},
        Case{-0.05, 0, true}}) {
    BodyOnFloor ball(R"(size="0.02" mass="0.1")");
    Stepper stepper(ball.scene.model, {}, ball.materials);
    ball.scene.data->qpos[2] = height;
    ball.scene.data->qvel[2] = speed;
    StepReport report;
    stepper.step(ball.scene.data, 1, &report);
    EXPECT_EQ(report.num_warnings, is_warned) << height << ", " << speed << report.warning;
  }
  // A plate that slides along the floor comes no nearer.
  BodyOnFloor plate(R"(type="box" size="0.05 0.05 0.0005" mass="0.1")");
  Stepper stepper(plate.scene.model, {}, plate.materials);
  plate.scene.data->qpos[2] = 0.00048;
  plate.scene.data->qvel[0] = 1;
  StepReport report;
  stepper.step(plate.scene.data, 1, &report);
  EXPECT_EQ(report.patches.size(), 1);
  EXPECT_EQ(report.num_warnings, 0) << report.warning;
}

TEST(PatchLimits, WarnsWhenAPlateHasGoneThroughAnother) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(<worldbody>
    <geom name="below" type="box" size="0.05 0.05 0.0005" pos="0 0 -0.0005"/>
    <body><freejoint/><geom name="above" type="box" size="0.04 0.04 0.0005" mass="100"/></body>
    </worldbody>)"));
  plant::MaterialTable materials = make_materials(scene, make_soft(1e3));
  const std::vector<mjtNum> start = scene.state();
  for (const auto rule : {contact::DeepPatches::extend, contact::DeepPatches::field}) {
    StepOptions options;
    options.surfaces.deep_patches = rule;
    Stepper stepper(scene.model, options, materials);
    scene.set_state(start);
    scene.data->qpos[2] = -0.0004;  // an overlap of 0.9 mm: each is 0.45 mm deep in the other
    scene.data->qvel[2] = -0.1;     // and 0.2 mm more in a step
    StepReport report;
    stepper.step(scene.data, 1, &report);
    ASSERT_EQ(report.patches.size(), 1);
    const double force = report.patches.force[2];
    EXPECT_GT(force, 0);
    EXPECT_FALSE(report.patches.is_deep[0]);
    stepper.step(scene.data, 1, &report);
    ASSERT_EQ(report.patches.size(), 1);
    if (rule == contact::DeepPatches::extend)
      EXPECT_GT(report.patches.force[2], force);
    else
      EXPECT_LT(report.patches.force[2], 0);  // pushed out on the far side, which is nearer now
    EXPECT_TRUE(report.patches.is_deep[0]);
    EXPECT_EQ(report.num_warnings, 1);
  }
}

TEST(PatchSurfaceVelocity, ConveyorCarriesTheBox) {
  BodyOnFloor box(kBox, "", R"(surfacevel="0.2 0 0 0 0 0")");
  Stepper stepper(box.scene.model, make_options(ContactModel::lagged), box.materials);
  box.scene.data->qpos[2] = kHalf - calc_rest_depth();
  run(&stepper, &box.scene, 300);
  EXPECT_NEAR(box.scene.data->qvel[0], 0.2, 1e-3);
}

TEST(PatchThreads, SameBitsForAnyNumber) {
  std::vector<mjtNum> state;
  for (const int num_threads : {1, 3}) {
    BodyOnFloor ball(R"(size="0.06" mass="0.3")");
    StepOptions options = make_options(ContactModel::lagged_regularized);
    options.num_threads = num_threads;
    Stepper stepper(ball.scene.model, options, ball.materials);
    ball.scene.data->qpos[2] = 0.06;
    ball.scene.data->qvel[0] = 1;
    run(&stepper, &ball.scene, 100);
    if (state.empty())
      state = ball.scene.state();
    else
      EXPECT_EQ(state, ball.scene.state());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Patches, testing::ValuesIn(compliant_models()), model_name);

}  // namespace
}  // namespace stiction::sim::patches_test
