// The effect of MJCF's contact settings on the motion: dimensions, filters, pairs, margins, moving
// surfaces.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::contact_test {
namespace {

using contact::ContactModel;
using support::Scene;

constexpr double kStep = 0.002, kGravity = 9.81;
constexpr const char* kOption = R"(timestep="0.002")";
constexpr const char* kFloor = R"(<geom name="floor" type="plane" size="50 50 1"/>)";

class ContactTest : public testing::TestWithParam<ContactModel> {};

Scene make_ball(const std::string& attributes, const std::string& joint = "<freejoint/>") {
  return Scene(support::make_mjcf(
      kOption, "<worldbody>" + std::string(kFloor) + R"(<body pos="0 0 0.1">)" + joint +
                   R"(<geom name="ball" size="0.1" mass="1.5" priority="1" )" + attributes +
                   "/></body></worldbody>"));
}

TEST_P(ContactTest, FrictionlessContactLeavesTheTangentAlone) {
  Scene scene = make_ball(R"(condim="1" friction="1")");
  Stepper stepper(scene.model, make_options(GetParam()));
  const double tangent[5] = {1.5, -0.7, 2, 3, -4};
  scene.data->qvel[0] = tangent[0];
  scene.data->qvel[1] = tangent[1];
  for (int k = 0; k < 3; ++k) scene.data->qvel[3 + k] = tangent[2 + k];
  run(&stepper, &scene, 500);
  // Round-off of 500 steps, of rotations between the body's frame and the world's.
  EXPECT_NEAR(std::hypot(scene.data->qvel[0], scene.data->qvel[1]), std::hypot(1.5, 0.7), 1e-12);
  EXPECT_NEAR(mju_norm3(scene.data->qvel + 3), std::sqrt(29.0), 1e-10);
  EXPECT_LE(std::abs(scene.data->qvel[2]), 1e-6);
  EXPECT_NEAR(scene.data->qpos[2], 0.1, 1e-3);
}

TEST_P(ContactTest, SlidingDecelerationIsMuG) {
  // In every step a point mass loses the speed mu gamma_n / m. gamma_n belongs to this step, or to
  // the last step under lagged models.
  Scene scene = make_ball(
      R"(condim="3" friction="0.3")",
      R"(<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>)");
  Stepper stepper(scene.model, make_options(GetParam(), 1e-9));
  run(&stepper, &scene, 500);  // to its rest penetration
  scene.data->qvel[0] = 0.8;
  scene.data->qvel[1] = -0.6;
  double lost = 0;
  for (int i = 0; i < 100; ++i) {
    const double before = std::hypot(scene.data->qvel[0], scene.data->qvel[1]);
    run(&stepper, &scene);
    lost += before - std::hypot(scene.data->qvel[0], scene.data->qvel[1]);
    const double v_n = scene.data->qvel[2];
    const double normal = kStep * kGravity * (i + 1) + v_n;  // sum of gamma_n / m, by momentum
    // Friction at 1e3 tolerances or more lacks 1e-6 / 2 of its bound; the lag is of one step.
    EXPECT_NEAR(lost, 0.3 * normal,
                1e-5 * lost + 0.3 * kStep * kGravity * 1e-2 + 0.3 * std::abs(v_n))
        << "step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ContactTest, testing::ValuesIn(compliant_models()), model_name);

class LaggedContact : public testing::TestWithParam<ContactModel> {};

TEST_P(LaggedContact, TorsionalFrictionStopsASpin) {
  // dw/dt = -mu_t m g / I about the normal: 0.4 m r^2 of a ball.
  constexpr double kTorsion = 0.004;
  Scene scene = make_ball(R"(condim="4" friction="0.5 0.004 0")");
  Stepper stepper(scene.model, make_options(GetParam(), 1e-9));
  run(&stepper, &scene, 500);
  scene.data->qvel[5] = 5;
  const double rate = kTorsion * kGravity / (0.4 * 0.1 * 0.1);
  const int num_steps = 100;
  run(&stepper, &scene, num_steps);
  EXPECT_NEAR(scene.data->qvel[5], 5 - rate * kStep * num_steps, 1e-4 * 5);
  run(&stepper, &scene, static_cast<int>(5 / rate / kStep));
  EXPECT_LE(std::abs(scene.data->qvel[5]), 0.02 + 1e-4 * 0.5 / kTorsion);  // stiction's tolerance
}

TEST_P(LaggedContact, RollingFrictionStopsARollingBall) {
  // Decelerating force F and torque T on the ellipse (F / mu)^2 + (T / mu_r)^2 = (m g)^2 with
  // m a = F and I a / r = T - F r: a = g / sqrt((m / mu)^2 + ((I / r + m r) / mu_r)^2) * m.
  constexpr double kMu = 0.8, kRoll = 0.001, kRadius = 0.1, kMass = 1.5;
  Scene scene = make_ball(R"(condim="6" friction="0.8 0.01 0.001")");
  Stepper stepper(scene.model, make_options(GetParam(), 1e-9));
  run(&stepper, &scene, 500);
  scene.data->qvel[0] = 0.5;
  scene.data->qvel[4] = 0.5 / kRadius;
  run(&stepper, &scene, 100);  // settle the slip
  const double before = scene.data->qvel[0];
  run(&stepper, &scene, 500);
  const double inertia = 0.4 * kMass * kRadius * kRadius;
  const double lever = inertia / kRadius + kMass * kRadius;
  const double deceleration = kMass * kGravity / std::hypot(kMass / kMu, lever / kRoll);
  // The slip of a rolling contact is (mu_r / mu)^2 / r^2 of its speed.
  EXPECT_NEAR((before - scene.data->qvel[0]) / (500 * kStep), deceleration, 1e-3 * deceleration);
  run(&stepper, &scene, 4500);
  EXPECT_LE(std::abs(scene.data->qvel[0]), 0.01);
}

TEST_P(LaggedContact, BallRollsOnWithoutRollingFriction) {
  Scene scene = make_ball(R"(condim="3" friction="0.8")");
  Stepper stepper(scene.model, make_options(GetParam(), 1e-9));
  run(&stepper, &scene, 500);
  scene.data->qvel[0] = 0.5;
  scene.data->qvel[4] = 5;
  run(&stepper, &scene, 1000);
  EXPECT_NEAR(scene.data->qvel[0], 0.5, 1e-5);  // creep of what little friction rolling needs
}

INSTANTIATE_TEST_SUITE_P(
    Models, LaggedContact,
    testing::ValuesIn(support::list_models([](const contact::ContactModelTraits& m) {
      return m.takes_torsion && !m.is_mj_step;
    })),
    model_name);

/// Returns the names of the pairs of geoms in contact after one step.
std::vector<std::string> find_contacts(const std::string& body) {
  Scene scene(support::make_mjcf(kOption, body));
  Stepper stepper(scene.model, {});
  const StepReport& report = stepper.step(scene.data);
  EXPECT_TRUE(report.ok()) << report.message;
  std::vector<std::string> pairs;
  for (int i = 0; i < report.contacts.size(); ++i) {
    std::string names[2];
    for (int side = 0; side < 2; ++side)
      names[side] = mj_id2name(scene.model, mjOBJ_GEOM, report.contacts.geoms[2 * i + side]);
    pairs.push_back(std::min(names[0], names[1]) + "-" + std::max(names[0], names[1]));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

/// Returns the contacts of two balls that overlap each other and the floor.
/// @param a, b attributes of the balls
/// @param more further elements
std::vector<std::string> find_two_balls(const std::string& a, const std::string& b,
                                        const std::string& more = "") {
  return find_contacts(
      "<worldbody>" + std::string(kFloor) +
      R"(<body name="A" pos="0 0 0.099"><freejoint/><geom name="a" size="0.1" )" + a +
      R"(/></body><body name="B" pos="0.199 0 0.099"><freejoint/><geom name="b" size="0.1" )" + b +
      "/></body></worldbody>" + more);
}
using Names = std::vector<std::string>;

TEST(ContactFilter, BitsDecideWhoTouches) {
  EXPECT_EQ(find_two_balls("", ""), (Names{"a-b", "a-floor", "b-floor"}));
  EXPECT_EQ(find_two_balls(R"(contype="2" conaffinity="1")", R"(contype="4" conaffinity="1")"),
            (Names{"a-floor", "b-floor"}));
  EXPECT_EQ(find_two_balls(R"(contype="0" conaffinity="0")", ""), (Names{"b-floor"}));
}

TEST(ContactFilter, ExcludedBodiesDoNotTouch) {
  EXPECT_EQ(find_two_balls("", "", R"(<contact><exclude body1="A" body2="B"/></contact>)"),
            (Names{"a-floor", "b-floor"}));
}

TEST(ContactFilter, PairTouchesWhateverItsBits) {
  EXPECT_EQ(find_two_balls(R"(contype="0" conaffinity="0")", R"(contype="0" conaffinity="0")",
                           R"(<contact><pair geom1="a" geom2="b"/></contact>)"),
            (Names{"a-b"}));
}

TEST(ContactFilter, DisabledContactsAreNotFound) {
  for (const char* flag : {R"(<option><flag contact="disable"/></option>)",
                           R"(<option><flag constraint="disable"/></option>)"})
    EXPECT_EQ(find_two_balls("", "", flag), Names{}) << flag;
}

TEST(ContactPair, FrictionOfThePairElementIsUsed) {
  // On a slope of friction 2, the pair's 0.1 lets it slide: a = g (sin - 0.1 cos).
  Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="4.905 0 -8.4957")", R"(
<default><geom friction="2"/></default>
<worldbody><geom name="floor" type="plane" size="50 50 1"/>
<body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><geom name="ball" size="0.1" mass="1"/></body></worldbody>
<contact><pair geom1="floor" geom2="ball" friction="0.1 0.1"/></contact>)"));
  Stepper stepper(scene.model, make_options(ContactModel::lagged, 1e-9));
  run(&stepper, &scene, 250);  // past the impact
  const double before = scene.data->qvel[0];
  run(&stepper, &scene, 250);
  EXPECT_NEAR(scene.data->qvel[0] - before, 0.5 * (4.905 - 0.1 * 8.4957), 1e-6);
}

TEST(ContactPair, UnequalFrictionActsAlongItsOwnTangent) {
  // Along each tangent the dry force is its own coefficient's.
  for (const int axis : {0, 1}) {
    Scene scene(support::make_mjcf(kOption, R"(
<worldbody><geom name="floor" type="plane" size="50 50 1"/>
<body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
<geom name="ball" size="0.1" mass="1"/></body></worldbody>
<contact><pair geom1="floor" geom2="ball" condim="3" friction="0.2 0.5"/></contact>)"));
    Stepper stepper(scene.model, make_options(ContactModel::lagged, 1e-9));
    run(&stepper, &scene, 500);
    // MuJoCo's tangents on a plane.
    const mjtNum* frame = scene.data->contact[0].frame + 3 * (1 + axis);
    const double v0[2] = {2 * frame[0], 2 * frame[1]};
    mju_copy(scene.data->qvel, v0, 2);
    run(&stepper, &scene, 100);
    const double mu = axis == 0 ? 0.2 : 0.5;
    const double speed = std::hypot(scene.data->qvel[0], scene.data->qvel[1]);
    EXPECT_NEAR(speed, 2 - mu * kGravity * 0.2, 0.01 * mu * kGravity * 0.2);
  }
}

TEST(Margin, RestsAtItsDistance) {
  // A margin acts like a layer of that thickness on the geom, on which the ball rests.
  Scene scene = make_ball(R"(margin="0.01")");
  Stepper stepper(scene.model, {});
  run(&stepper, &scene, 2000);
  EXPECT_NEAR(scene.data->qpos[2], 0.11, 1e-4);
  Scene gap = make_ball(R"(margin="0.01" gap="0.05")");
  Stepper other(gap.model, {});
  run(&other, &gap, 2000);
  EXPECT_NEAR(gap.data->qpos[2], scene.data->qpos[2], 1e-12);
}

TEST(Gap, GivesNoForceUntilItCloses) {
  Scene scene = make_ball(R"(gap="0.5")");
  scene.data->qpos[2] = 0.3;
  Stepper stepper(scene.model, make_options(ContactModel::lagged));
  run(&stepper, &scene, 50);
  EXPECT_EQ(scene.data->ncon, 1);
  EXPECT_EQ(scene.data->nefc, 0);
  EXPECT_NEAR(scene.data->qvel[2], -kGravity * 0.1, 1e-12);
  run(&stepper, &scene, 100);  // it falls for 0.202 s
  EXPECT_NEAR(scene.data->qpos[2], 0.1, 1e-4);
  EXPECT_GT(scene.data->nefc, 0);
}

class Conveyor : public testing::TestWithParam<ContactModel> {};

TEST_P(Conveyor, CarriesAtBeltSpeed) {
  Scene scene(support::make_mjcf(kOption, R"(
<worldbody><geom type="plane" size="50 50 1" surfacevel="1e-9 0 0 0 0 0"/>
<body pos="0 0 0.05"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
<geom size="0.05" mass="1" friction="0.4" priority="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam(), 1e-8));
  run(&stepper, &scene, 250);
  scene->geom_surfacevel[0] = 0.6;
  // Dragged along by mu times the normal impulse until it keeps up, at 0.6 / (0.4 g) = 0.153 s.
  const double start = scene.data->qvel[2];
  run(&stepper, &scene, 50);
  const double normal = kGravity * 0.1 + scene.data->qvel[2] - start;
  EXPECT_NEAR(scene.data->qvel[0], 0.4 * normal, 0.02 * 0.4 * normal);  // lagged: by one step of 50
  run(&stepper, &scene, 450);
  EXPECT_NEAR(scene.data->qvel[0], 0.6, 1e-6);
  EXPECT_NEAR(scene.data->qvel[1], 0, 1e-9);
}

TEST_P(Conveyor, TurntableTurnsWhatStandsOnIt) {
  Scene scene(support::make_mjcf(kOption, R"(
<worldbody><geom type="cylinder" size="1 0.1" pos="0 0 -0.1" surfacevel="0 0 0 0 0 2"/>
<body pos="0.2 0 0.02"><freejoint/><geom type="box" size="0.05 0.05 0.02" mass="1" friction="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam(), 1e-8));
  run(&stepper, &scene, 1000);
  const double radius = std::hypot(scene.data->qpos[0], scene.data->qpos[1]);
  // In stiction at w r: w^2 r of 0.8 m/s^2 is far from mu g. It creeps outwards below the
  // tolerance.
  EXPECT_NEAR(scene.data->qvel[5], 2, 2e-3);
  EXPECT_NEAR(std::hypot(scene.data->qvel[0], scene.data->qvel[1]), 2 * radius, 1e-3);
  EXPECT_NEAR(radius, 0.2, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Models, Conveyor, testing::ValuesIn(compliant_models()), model_name);

}  // namespace
}  // namespace stiction::sim::contact_test
