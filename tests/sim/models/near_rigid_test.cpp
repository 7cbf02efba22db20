// Near-rigid contacts in scenes: under heavy loads, near the axis of a hinge, and in overlaps where
// no other force acts.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::near_rigid_test {
namespace {

using contact::ContactModel;
using support::Scene;

class NearRigid : public testing::TestWithParam<ContactModel> {
 protected:
  static std::string option(double dt, double gravity = 9.81) {
    return "timestep=\"" + std::to_string(dt) + "\" gravity=\"0 0 " + std::to_string(-gravity) +
           "\"";
  }
};

TEST_P(NearRigid, LightBodyUnderAHeavyOneSinksLittle) {
  if (GetParam() == ContactModel::sap) GTEST_SKIP() << "sap limits the stiffness by the mobility";
  for (const double heavy : {10.0, 1e3, 1e4}) {
    Scene scene(support::make_mjcf(option(0.01), R"(<worldbody><geom type="plane" size="9 9 1"/>
      <body pos="0 0 0.0325"><freejoint/><geom type="box" size="0.0325 0.0325 0.0325" mass="1"/></body>
      <body pos="0 0 0.165"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass=")" +
                                                     std::to_string(heavy) +
                                                     R"("/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(GetParam()),
                    plant::make_default_materials(scene.model));
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 100));
    // A mass on one spring sinks by g / frequency^2 = 25 um. Four springs with the mobility of
    // corners, at most 3.5 / m, share a load of at most ten times their own scale, at two faces.
    const double frequency = 2 * 3.14159265 / 0.01;
    const double deepest = 2 * 10 * 3.5 / 4 * 1.5 * 9.81 / (frequency * frequency);
    EXPECT_LT(0.165 - scene.data->qpos[9], deepest) << heavy;
    EXPECT_LT(std::abs(scene.data->qvel[8]), 1e-4) << heavy;
  }
}

TEST_P(NearRigid, LinkThatOverlapsItsBaseAtTheHingePressesWithASaneForce) {
  // MuJoCo collides the link with its base, because the base is part of the world.
  constexpr double kWeight = 0.5 * 9.81;
  for (const char* axis : {"1 0 0", "0 1 0.1", "0.3 0.2 1", "1 1 1"}) {
    Scene scene(support::make_mjcf(option(0.002), R"(<worldbody><body pos="0 0 0.25">
      <geom type="box" size="0.03 0.03 0.03"/><body pos="0 0 0.03"><joint axis=")" +
                                                      std::string(axis) + R"(" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.15 0 0.05" size="0.02" mass="0.5"/></body></body>
      </worldbody>)"));
    Stepper stepper(scene.model, make_options(GetParam()),
                    plant::make_default_materials(scene.model));
    scene.data->qvel[0] = 2;
    for (int i = 0; i < 300; ++i) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      for (const double impulse : report.contacts.normal_impulse)
        ASSERT_LT(impulse / 0.002, 1e5 * kWeight) << "axis " << axis << ", step " << i;
    }
  }
}

TEST_P(NearRigid, BodyThatIsEasyToTurnSinksNoDeeper) {
  if (GetParam() == ContactModel::sap) GTEST_SKIP() << "sap limits the stiffness by the mobility";
  // A ball of mass m and radius r has the mobilities 1/m along the normal and (1 + m r^2 / I) / m
  // along both tangents. It rests at m g / k.
  constexpr double kRadius = 0.1, kMass = 2, kMostTurning = 30;
  const double frequency = 2 * 3.14159265358979 / 0.002;
  for (const double turning : {2.5, 20.0, 1e3, 1e6, 1e10}) {  // m r^2 / I
    const std::string inertia =
        std::to_string(kMass * kRadius * kRadius / turning * 1e12) + "e-12 ";
    Scene scene(
        support::make_mjcf(option(0.002), R"(<worldbody><geom type="plane" size="9 9 1"/>
      <body pos="0 0 0.1"><freejoint/><inertial pos="0 0 0" mass="2" diaginertia=")" +
                                              inertia + inertia + inertia +
                                              R"("/><geom size="0.1"/></body></worldbody>)"));
    Stepper stepper(scene.model, make_options(GetParam(), 1e-9),
                    plant::make_default_materials(scene.model));
    scene.data->qvel[0] = 0.1;
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 1000)) << turning;
    const double mobility = std::sqrt(1 + 2 * (1 + turning) * (1 + turning)) / 3;  // times m
    const double depth = std::min(mobility, kMostTurning) * 9.81 / (frequency * frequency);
    EXPECT_NEAR((kRadius - scene.data->qpos[2]) / depth, 1, 0.01) << turning;
  }
}

/// A box of 1 kg and 0.2 m stands on its corners: on a plane, or on four bodies. Or it is the foot
/// of a leg of 10 kg, which it turns about the ankle.
std::string make_stand(const std::string& ground, const std::string& inertia) {
  const std::string foot = R"(<inertial pos="0 0 0" mass="1" diaginertia=")" + inertia + " " +
                           inertia + " " + inertia + R"("/><geom type="box" size="0.1 0.1 0.1"/>)";
  if (ground == "ankle")
    return R"(<worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 0.1">
      <joint type="slide" axis="0 0 1"/><geom size="0.1" mass="10" contype="0" conaffinity="0"/>
      <body><joint axis="0 1 0"/><joint axis="1 0 0"/>)" +
           foot + "</body></body></worldbody>";
  std::string posts;
  for (const char* place : {"0.1 0.1", "0.1 -0.1", "-0.1 0.1", "-0.1 -0.1"})
    posts += "<body pos=\"" + std::string(place) +
             " -0.05\"><geom type=\"box\" size=\"0.02 0.02 0.05\"/></body>";
  return "<worldbody>" + (ground == "posts" ? posts : R"(<geom type="plane" size="9 9 1"/>)") +
         R"(<body pos="0 0 0.1"><freejoint/>)" + foot + "</body></worldbody>";
}

TEST_P(NearRigid, CornersThatGiveWayEasilyCarryTheirMassTogether) {
  if (GetParam() == ContactModel::sap) GTEST_SKIP() << "sap limits the stiffness by the mobility";
  constexpr double kMostTurning = 30, kFrequency = 2 * 3.14159265358979 / 0.002;
  for (const char* ground : {"plane", "posts", "ankle"}) {
    for (const char* inertia : {"6.7e-3", "1e-4", "1e-5", "1e-6", "1e-8", "1e-10"}) {
      SCOPED_TRACE(std::string(ground) + " " + inertia);
      Scene scene(support::make_mjcf(option(0.002), make_stand(ground, inertia)));
      Stepper stepper(scene.model, make_options(GetParam()),
                      plant::make_default_materials(scene.model));
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 500));
      EXPECT_LT(0.1 - scene.data->xpos[3 * (scene->nbody - 1) + 2],
                kMostTurning / 4 * 9.81 / (kFrequency * kFrequency) * 1.01);
    }
  }
}

TEST_P(NearRigid, OverlapsPartWhereNoOtherForceActs) {
  for (const char* joint : {R"(<joint type="slide" axis="0 0 1"/>)", "<freejoint/>"}) {
    for (const double dt : {0.002, 0.01}) {
      for (const double overlap : {1e-4, 1e-3, 1e-2, 5e-2}) {
        for (const double mass : {0.01, 0.1, 1.0, 4.0, 10.0, 100.0, 1000.0}) {
          Scene scene(support::make_mjcf(
              option(dt, 0), R"(<worldbody><geom type="box" size="1 1 0.1" pos="0 0 -0.1"/>
              <body pos="0 0 )" + std::to_string(0.1 - overlap) +
                                 "\">" + joint + R"(<geom size="0.1" mass=")" +
                                 std::to_string(mass) + R"("/></body></worldbody>)"));
          Stepper stepper(scene.model, make_options(GetParam()),
                          plant::make_default_materials(scene.model));
          ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 200))
              << joint << " dt " << dt << " overlap " << overlap << " mass " << mass;
        }
      }
    }
  }
}

TEST_P(NearRigid, LimitsThatPressAgainstEachOtherComeToRest) {
  Scene scene(support::make_mjcf(option(0.002, 0), R"(<worldbody><body>
    <joint axis="0 1 0" limited="true" range="-6 6" margin="0.2"/>
    <geom type="capsule" fromto="0 0 0 1 0 0" size="0.05" mass="1"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam()),
                  plant::make_default_materials(scene.model));
  scene.data->qvel[0] = 0.3;
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 2000));
  EXPECT_LT(std::abs(scene.data->qvel[0]), 1e-6);
}

// A contact without overlap must be compressed before it carries a load. A near-rigid one of the
// period dt carries the share s = K (1 - s) (1 + d g dt (1 - s)) of a weight in its first step,
// with K = 4 pi^2 / (m w) and the estimate w = |W|_F / 3 = sqrt(1 + 3.5^2 + 3.5^2) / (3 m) of a
// sphere's mobility. The next step makes up for it. This does not depend on the number of spheres
// that touch.
TEST(NearRigidSpheres, CarryTheSameShareOfTheirWeightInTheFirstStepInEveryNumber) {
  constexpr double kTimeStep = 0.002, kPi = 3.14159265358979323846;
  constexpr double kStiffness = 4 * kPi * kPi * 3 / 5.0497524691810389;  // sqrt(25.5)
  for (const ContactModel model :
       {ContactModel::sap, ContactModel::coulomb, ContactModel::lagged_regularized}) {
    const double dissipation = model == ContactModel::sap ? 0 : 50;  // [s/m]
    double share = 0.5;
    for (int i = 0; i < 50; ++i) {  // 1 - s by fixed-point iteration
      const double K = kStiffness * (1 + dissipation * 9.81 * kTimeStep * (1 - share));
      share = K / (1 + K);
    }
    for (const int side : {1, 6}) {
      std::string bodies;
      for (int i = 0; i < side * side; ++i)
        bodies += "<body pos=\"" + std::to_string(0.099999 * (i % side)) + " " +
                  std::to_string(0.099999 * (i / side)) +
                  R"( 0.05"><freejoint/><geom size="0.05" mass="1"/></body>)";
      Scene scene(support::make_mjcf(
          "timestep=\"0.002\"",
          R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies + "</worldbody>"));
      Stepper stepper(scene.model, make_options(model, 1e-8),
                      plant::make_default_materials(scene.model));
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << report.message;
      ASSERT_EQ(report.statistics.num_islands, 1);
      double impulse = 0;
      for (int c = 0; c < report.contacts.size(); ++c)
        if (report.contacts.bodies[2 * c] == 0) impulse += report.contacts.impulse[3 * c + 2];
      EXPECT_NEAR(impulse / (side * side * 9.81 * kTimeStep), share, 1e-4) << side;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NearRigid, testing::ValuesIn(compliant_models()), model_name);

}  // namespace
}  // namespace stiction::sim::near_rigid_test
