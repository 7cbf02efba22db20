// Bodies that start inside each other part at a bounded speed, and nothing else changes.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/contact/contact_model.hpp"
#include "stiction/sim/stepper.hpp"
#include "support/scene.hpp"

namespace stiction::sim::overlap_test {
namespace {

using contact::ContactModel;
using contact::NormalLawKind;
using support::Scene;

/// A compliant model with a law.
struct Law {
  ContactModel model;
  NormalLawKind law = NormalLawKind::hunt_crossley;
};
void PrintTo(const Law& law, std::ostream* out) {
  *out << contact::traits(law.model).name << "_" << contact::traits(law.law).name;
}

constexpr Law kLaws[] = {
    {ContactModel::lagged},
    {ContactModel::lagged, NormalLawKind::hertz},
    {ContactModel::lagged, NormalLawKind::linear},
    {ContactModel::lagged_regularized},
    {ContactModel::coulomb},
    {ContactModel::coulomb, NormalLawKind::linear},
    {ContactModel::similar},
    {ContactModel::tamsi},
    {ContactModel::sap},
};

class Overlap : public testing::TestWithParam<Law> {
 protected:
  static StepOptions make_options(bool corrects) {
    StepOptions options;
    options.contact_model = GetParam().model;
    options.parameters.normal_law = GetParam().law;
    if (!corrects) options.parameters.max_correction_speed = 0;
    return options;
  }
};

std::string make_box(double dt, double depth, const char* geom) {
  return support::make_mjcf("timestep='" + std::to_string(dt) + "'",
                            "<worldbody><geom type='plane' size='2 2 .1'/><body pos='0 0 " +
                                std::to_string(0.05 - depth) + "'><freejoint/><geom " + geom +
                                " mass='1'/></body></worldbody>");
}

constexpr double kMaxSpeed = 0.1;  // the default of max_correction_speed [m/s]

TEST_P(Overlap, ShrinksAtTheSpeedGivenAndThrowsNothing) {
  for (const char* geom : {"type='box' size='.05 .05 .05'", "type='sphere' size='.05'"})
    for (const double dt : {0.002, 0.01})
      for (const double depth : {0.001, 0.005, 0.02, 0.04}) {
        Scene scene(make_box(dt, depth, geom));
        Stepper stepper(scene.model, make_options(true));
        double gone = -1, fastest = 0, highest = -1;
        for (int i = 0; i < std::lround(2 / dt); ++i) {
          const StepReport& report = stepper.step(scene.data);
          ASSERT_TRUE(report.ok()) << report.message;
          fastest = std::max(fastest, scene.data->qvel[2]);
          highest = std::max(highest, scene.data->qpos[2] - 0.05);
          if (gone < 0 && scene.data->qpos[2] > 0.05 - 2e-4) gone = scene.data->time;
        }
        const std::string text =
            std::string(geom) + ", dt " + std::to_string(dt) + ", depth " + std::to_string(depth);
        EXPECT_LE(fastest, kMaxSpeed * 1.001) << text;
        // It rises no higher than a body thrown at this speed.
        EXPECT_LE(highest, kMaxSpeed * kMaxSpeed / (2 * 9.81) + dt * kMaxSpeed) << text;
        EXPECT_GE(gone, 0) << text;
        // The last part, below dt / (gamma d), has the speed 1 / d of the law.
        EXPECT_LE(gone, depth / kMaxSpeed + 0.1 + 20 * dt) << text;
        EXPECT_LE(std::abs(scene.data->qvel[2]), 1e-3) << text;
      }
}

TEST_P(Overlap, PartsInTimeWhileTheBodyMovesAlong) {
  for (const double speed : {-0.5, 0.0, 0.5}) {
    Scene scene(make_box(0.002, 0.02, "type='box' size='.05 .05 .05'"));
    scene.data->qvel[0] = 0.3;
    scene.data->qvel[2] = speed;
    Stepper stepper(scene.model, make_options(true));
    double height = 0;
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(stepper.step(scene.data).ok());
      height = std::max(height, scene.data->qpos[2] - 0.05);
    }
    EXPECT_GT(scene.data->qpos[2], 0.05 - 5e-4) << speed;
    // A body that moves up flies on, and is not made faster.
    const double up = std::max(speed, kMaxSpeed);
    EXPECT_LE(height, up * up / (2 * 9.81)) << speed;
  }
}

/// Landing, sliding, tumbling and rest have the same bits with and without the correction.
TEST_P(Overlap, LeavesImpactsAndRestAlone) {
  for (const double dt : {0.002, 0.01}) {
    const std::string xml = support::make_mjcf("timestep='" + std::to_string(dt) + "'", R"(
<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.3" euler="20 30 0"><freejoint/><geom type="box" size=".05 .07 .03" mass="1"/></body>
<body pos="0 0.01 0.5"><freejoint/><geom type="sphere" size=".05" mass="0.1"/></body>
<body pos="1 0 0.0499"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
<body pos="1 0 0.1498"><freejoint/><geom type="box" size=".05 .05 .05" mass="5"/></body></worldbody>)");
    Scene with(xml), without(xml);
    with.data->qvel[2] = without.data->qvel[2] = -2;
    Stepper first(with.model, make_options(true)), second(without.model, make_options(false));
    for (int i = 0; i < std::lround(1.5 / dt); ++i) {
      ASSERT_TRUE(first.step(with.data).ok());
      ASSERT_TRUE(second.step(without.data).ok());
      ASSERT_EQ(with.state(), without.state()) << dt << ", step " << i;
    }
  }
}

/// Boxes and spheres that overlap each other and the floor come apart and settle.
TEST_P(Overlap, OfAPileSettles) {
  if (GetParam().model == ContactModel::tamsi) return;  // it does not solve piles
  std::string bodies;
  for (int i = 0; i < 8; ++i)
    bodies += "<body pos='" + std::to_string(0.02 * (i % 2)) + " " +
              std::to_string(0.015 * (i % 3)) + " " + std::to_string(0.03 + 0.08 * i) +
              "'><freejoint/><geom type='" + (i % 2 ? "sphere" : "box") +
              "' size='.05 .05 .05' mass='0.5'/></body>";
  Scene scene(support::make_mjcf(
      "timestep='0.005'", "<worldbody><geom type='plane' size='9 9 1'/>" + bodies +
                              "<geom type='box' size='.02 1 1' pos='.14 0 1'/><geom type='box' "
                              "size='.02 1 1' pos='-.12 0 1'/><geom type='box' size='1 .02 1' "
                              "pos='0 .16 1'/><geom type='box' size='1 .02 1' pos='0 -.13 1'/>"
                              "</worldbody>"));
  Stepper stepper(scene.model, make_options(true));
  double deepest = 0, fastest = 0;
  for (int i = 0; i < 600; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    deepest = 0;
    for (int c = 0; c < scene.data->ncon; ++c)
      deepest = std::max(deepest, -scene.data->contact[c].dist);
    for (int b = 0; b < 8; ++b) fastest = std::max(fastest, scene.data->qvel[6 * b + 2]);
  }
  EXPECT_LT(deepest, 2e-3);
  EXPECT_LT(fastest, 8 * kMaxSpeed);  // eight bodies, each pushed by the one below
}

/// A robot at rest on two wheels and a caster that overlaps its fork, which no joint lets part.
std::string make_robot(double dt, double height) {
  return support::make_mjcf("timestep='" + std::to_string(dt) + "'",
                            R"(
<worldbody><geom type="plane" size="9 9 .1"/>
<body pos="0 0 .05"><freejoint/>
  <geom type="box" size=".15 .12 .03" pos="0 0 .05" mass="10" contype="0" conaffinity="0"/>
  <body pos="0 .14 0"><joint axis="0 1 0" damping=".01"/>
    <geom type="cylinder" size=".05 .012" euler="90 0 0" mass=".3"/></body>
  <body pos="0 -.14 0"><joint axis="0 1 0" damping=".01"/>
    <geom type="cylinder" size=".05 .012" euler="90 0 0" mass=".3"/></body>
  <body pos="-.12 0 -.02"><joint type="ball" damping="1e-3"/><geom size=".03" mass=".1"/></body>
  <body pos="-.12 .01 )" + std::to_string(height) +
                                R"("><joint axis="0 0 1" damping=".01"/>
    <geom type="cylinder" size=".025 .02" pos="-.02 0 0" euler="90 0 0" mass=".1"/></body>
</body></worldbody>)");
}

/// Links of random shapes on random joints that overlap each other.
/// @param flags of all geoms
std::string make_links(double dt, unsigned seed, const char* flags = "") {
  std::mt19937 generator(seed);
  std::string bodies;
  // One number or word after the other, because the order of calls in an expression is open.
  const auto add = [&](const char* text, double a, double b, int count) {
    bodies += text;
    for (int i = 0; i < count; ++i)
      bodies += std::to_string(std::uniform_real_distribution<double>(a, b)(generator)) + ' ';
  };
  constexpr const char* kShapes[] = {"box", "sphere", "capsule", "cylinder", "ellipsoid"};
  for (int i = 0; i < 3; ++i) {
    add("<body pos='", -.04, .04, 3);
    bodies += "'><joint damping='.005' ";
    if (generator() % 3)
      add("axis='", .1, 1, 3);
    else
      bodies += "type='ball";
    bodies += std::string("'/><geom type='") + kShapes[generator() % 5];
    add("' size='", .02, .05, 3);
    add("' pos='", -.03, .03, 3);
    add("' euler='", -180, 180, 3);
    add("' mass='", .05, .5, 1);
    bodies += std::string("' ") + flags + "/></body>";
  }
  return support::make_mjcf("timestep='" + std::to_string(dt) + "'",
                            "<worldbody><body pos='0 0 1'>" + bodies + "</body></worldbody>");
}

/// Steps, and returns the largest energy that the scene has gained, with what its dampers took [J].
double find_gain(Scene* scene, Stepper* stepper, double seconds) {
  mjModel* const m = scene->model;
  mjData* const d = scene->data;
  m->opt.enableflags |= mjENBL_ENERGY;
  const auto energy = [&] {
    mj_forward(m, d);
    return d->energy[0] + d->energy[1];
  };
  const double at_first = energy();
  double taken = 0, gain = -1;
  while (d->time < seconds) {
    const StepReport& report = stepper->step(d);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    for (int i = 0; i < m->nv; ++i)
      taken += m->opt.timestep * m->dof_damping[i] * d->qvel[i] * d->qvel[i];
    gain = std::max(gain, energy() - at_first + taken);
  }
  return gain;
}

TEST_P(Overlap, OfLinksForGoodIsNoMotor) {
  for (const double dt : {0.001, 0.01}) {
    for (const double height : {.024, .012, .0}) {
      Scene scene(make_robot(dt, height));
      Stepper stepper(scene.model, make_options(true));
      EXPECT_LE(find_gain(&scene, &stepper, 1), 1e-3) << dt << " " << height;
      EXPECT_LE(std::hypot(scene.data->qpos[0], scene.data->qpos[1]), 2e-4);
    }
    if (GetParam().model == ContactModel::tamsi) continue;  // it does not solve all of these
    for (unsigned seed = 0; seed < 8; ++seed) {
      const auto run = [&](const char* flags) {
        Scene scene(make_links(dt, seed, flags));
        Stepper stepper(scene.model, make_options(true));
        return find_gain(&scene, &stepper, 1);
      };
      // Euler's method gains some energy in curved motion without any contact.
      const double free = run("contype='0' conaffinity='0'");
      EXPECT_LE(run(""), 1e-3 + 2 * std::max(free, 0.0)) << dt << ", seed " << seed;
    }
  }
}

TEST_P(Overlap, OfALinkResistsWhatPressesItDeeper) {
  for (const double torque : {1.0, -1.0}) {
    Scene scene(support::make_mjcf("timestep='.002' gravity='0 0 0'", R"(
<worldbody><geom type="box" size=".1 .1 .05" pos=".2 0 -.075"/>
<body><joint name="hinge" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto=".02 0 0 .2 0 0" size=".03" mass=".3"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator>)"));
    mj_forward(scene.model, scene.data);
    ASSERT_GT(scene.data->ncon, 0);
    EXPECT_NEAR(scene.data->contact[0].dist, -5e-3, 1e-6);
    Stepper stepper(scene.model, make_options(true));
    scene.data->ctrl[0] = torque;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(stepper.step(scene.data).ok());
    if (torque > 0)  // presses
      EXPECT_NEAR(scene.data->qpos[0], 0, 0.01);
    else
      EXPECT_LT(scene.data->qpos[0], -0.3);
  }
}

constexpr const char* kArm = R"(<body pos="0 0 .025"><joint axis="0 1 0" damping=".02"/>
<geom type="capsule" fromto=".1 0 0 .2 0 0" size=".03" mass=".3"/></body>)";

// What starts in the floor and cannot part stays there, until something lifts it.
TEST_P(Overlap, OfAnArmInTheFloorIsLeftByMotion) {
  for (const double dt : {0.002, 0.01}) {
    Scene scene(support::make_mjcf(
        "timestep='" + std::to_string(dt) + "'",
        std::string("<worldbody><geom type='plane' size='9 9 1'/>") + kArm + "</worldbody>"));
    Stepper stepper(scene.model, make_options(true));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, std::lround(0.5 / dt)));
    EXPECT_NEAR(scene.data->qpos[0], 0, 1e-3) << dt;
    scene.data->qvel[0] = -15;
    double highest = 0;
    for (int i = 0; i < std::lround(2 / dt); ++i) {
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
      highest = std::min(highest, scene.data->qpos[0]);
    }
    EXPECT_LT(highest, -0.3) << dt;
    // It lands on the end near the hinge, whose center is at the height of the radius.
    EXPECT_NEAR(0.025 - 0.1 * std::sin(scene.data->qpos[0]), 0.03, 1e-4) << dt;
    EXPECT_NEAR(scene.data->qvel[0], 0, 1e-3) << dt;
  }
}

TEST_P(Overlap, OfASlideBesideTheWorldParts) {
  Scene scene(support::make_mjcf("timestep='.002'", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 .04"><joint type="slide" axis="0 0 1"/><geom type="box" size=".05 .05 .05"
  mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(true));
  double fastest = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    fastest = std::max(fastest, scene.data->qvel[0]);
  }
  EXPECT_LE(fastest, kMaxSpeed * 1.001);
  EXPECT_NEAR(scene.data->qpos[0], 0.01, 5e-4);
}

// The caller puts a body at rest into the floor, or a mocap floor into it.
TEST_P(Overlap, AfterAJumpPartsSlowly) {
  for (const bool is_mocap : {false, true}) {
    Scene scene(support::make_mjcf("timestep='.002'", R"(<worldbody>
<body mocap="true" pos="0 0 -.1"><geom type="box" size="1 1 .1"/></body>
<body pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(true));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 100));
    const double jump = is_mocap ? 0.01 : 0;
    scene.data->mocap_pos[2] += jump;
    if (!is_mocap) scene.data->qpos[2] -= 0.01;
    double fastest = 0;
    for (int i = 0; i < 500; ++i) {
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
      fastest = std::max(fastest, scene.data->qvel[2]);
    }
    EXPECT_LE(fastest, kMaxSpeed * 1.001) << is_mocap;
    EXPECT_NEAR(scene.data->qpos[2], 0.05 + jump, 5e-4) << is_mocap;
  }
}

// A mocap block that jumps into an arm moves the arm; it does not pass through.
TEST_P(Overlap, AfterAJumpIntoALinkMovesIt) {
  Scene scene(support::make_mjcf("timestep='.002'", std::string(R"(<worldbody>
<body mocap="true" pos="0 0 -.105"><geom type="box" size="1 1 .1"/></body>)") +
                                                        kArm + "</worldbody>"));
  Stepper stepper(scene.model, make_options(true));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 100));
  for (int jump = 0; jump < 3; ++jump) {
    scene.data->mocap_pos[2] += 0.002;
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 500));
    const double top = scene.data->mocap_pos[2] + 0.1;
    EXPECT_NEAR(0.025 - 0.1 * std::sin(scene.data->qpos[0]) - 0.03, top, 2e-4) << jump;
  }
}

// Links that overlap for good fall asleep and wake without energy.
TEST_P(Overlap, OfLinksThatSleepIsNoMotor) {
  Scene scene(make_robot(.005, .012));
  scene.model->opt.enableflags |= mjENBL_SLEEP;
  mj_resetData(scene.model, scene.data);  // mj_forward needs it after a change of this flag
  Stepper stepper(scene.model, make_options(true));
  for (int time = 1; time <= 3; ++time) {
    EXPECT_LE(find_gain(&scene, &stepper, 2 * time), 1e-3);
    EXPECT_EQ(scene.data->ntree_awake, 0) << time;
    scene.data->qvel[2] = 0.2;  // wakes
  }
}

/// Returns a stepper in which all geoms have a stiffness.
Stepper make_stepper(const Scene& scene, const Law& law, double stiffness) {
  StepOptions options;
  options.contact_model = law.model;
  options.parameters.normal_law = law.law;
  plant::MaterialTable materials = plant::make_default_materials(scene.model);
  for (plant::Material& material : materials.geoms)
    material.law.stiffness = material.law.hertz_stiffness = stiffness;
  return Stepper(scene.model, options, materials);
}

// Nor is a given stiffness, be it softer or harder than the near-rigid one.
TEST_P(Overlap, OfLinksWithAStiffnessIsNoMotor) {
  for (const double stiffness : {1e5, 1e6, 1e8})
    for (const double dt : {0.002, 0.01})
      for (const double height : {.024, .012, .0}) {
        Scene scene(make_robot(dt, height));
        Stepper stepper = make_stepper(scene, GetParam(), stiffness);
        EXPECT_LE(find_gain(&scene, &stepper, 2), 1e-3) << stiffness << ' ' << dt << ' ' << height;
      }
}

/// Returns whether a run warns of energy from nothing.
bool makes_energy(const std::string& xml, double stiffness, double seconds, const Law& law,
                  double speed = 0) {
  Scene scene(xml);
  scene.data->qvel[0] = speed;
  Stepper stepper = make_stepper(scene, law, stiffness);
  bool is_any = false;
  while (scene.data->time < seconds) {
    const StepReport& report = stepper.step(scene.data);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    is_any |= report.warnings[static_cast<int>(WarningKind::made_energy)].count > 0;
  }
  return is_any;
}

TEST(MadeEnergy, IsWarnedOf) {
  const Law law{ContactModel::coulomb};
  // `sap` lifts a box that slides at 20 m/s by 0.2 m.
  const std::string slider = make_box(.01, 0, "type='box' size='.05 .05 .05'");
  EXPECT_TRUE(makes_energy(slider, contact::kInfinity, 1, {ContactModel::sap}, 20));
  EXPECT_FALSE(makes_energy(slider, contact::kInfinity, 1, law, 20));
  EXPECT_FALSE(makes_energy(make_robot(.01, .012), 1e6, 2, law));
  for (const double stiffness : {1e4, 1e6, contact::kInfinity})
    for (const char* geom : {"type='box' size='.05 .05 .05'", "type='sphere' size='.05'"}) {
      EXPECT_FALSE(makes_energy(make_box(.002, -.5, geom), stiffness, 1, law)) << stiffness;
      EXPECT_FALSE(makes_energy(make_box(.002, .02, geom), stiffness, 1, law)) << stiffness;
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, Overlap, testing::ValuesIn(kLaws),
                         [](const auto& info) { return testing::PrintToString(info.param); });

}  // namespace
}  // namespace stiction::sim::overlap_test
