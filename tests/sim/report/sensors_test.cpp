// Sensors, contact forces and energies after our step, in the arrays where MuJoCo puts them.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::sensors_test {
namespace {

using support::Scene;

constexpr double kGravity = 9.81;

/// Both friction cones, with dense and sparse Jacobians: four ways that MuJoCo stores forces.
class Sensors : public testing::TestWithParam<const char*> {
 protected:
  Scene make_scene(const std::string& body) const {
    return Scene(support::make_mjcf(std::string(R"(timestep="0.002" )") + GetParam(), body));
  }
  const mjtNum* read(const Scene& scene, const char* name) const {
    return scene.data->sensordata + scene->sensor_adr[scene.sensor(name)];
  }
};

constexpr const char* kBench = R"(
<default><geom condim="6" friction="0.7 0.02 0.003"/></default>
<worldbody>
  <geom name="floor" type="plane" size="9 9 1"/>
  <body name="box" pos="0 0 0.1"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1" mass="2"/>
    <site name="pad" type="box" size="0.12 0.12 0.12"/><site name="imu"/></body>
  <body name="ball" pos="0 0 0.25"><freejoint/><geom name="ball" size="0.05" mass="0.5"/></body>
  <body name="slab" pos="1 0 0.05"><freejoint/><geom name="slab" type="cylinder" size="0.2 0.05" mass="1"/></body>
  <body pos="2 0 1"><joint name="arm" axis="0 1 0" range="-90 10" damping="0.5"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/>
    <body pos="0.3 0 0"><geom size="0.05" mass="0.4" contype="0" conaffinity="0"/><site name="wrist"/></body></body>
  <body pos="3 0 1"><joint name="lift" type="slide" axis="0 0 1" damping="5"/><geom size="0.05" mass="3" contype="0" conaffinity="0"/></body>
</worldbody>
<tendon><fixed name="rope" range="-0.1 1" limited="true"><joint joint="lift" coef="2"/></fixed></tendon>
<sensor>
  <touch name="touch" site="pad"/><accelerometer name="imu" site="imu"/>
  <force name="force" site="wrist"/><torque name="torque" site="wrist"/>
  <jointlimitfrc name="arm" joint="arm"/><tendonlimitfrc name="rope" tendon="rope"/>
  <contact name="slab" geom1="floor" geom2="slab" num="1" reduce="netforce" data="found force torque pos"/>
  <contact name="ball" body1="box" body2="ball" num="4" reduce="maxforce" data="force dist normal"/>
</sensor>)";

TEST_P(Sensors, ReadTheLoadsOfBodiesAtRest) {
  Scene scene = make_scene(kBench);
  Stepper stepper(scene.model, with_tolerance(1e-10));
  run(&stepper, &scene, 3000);
  // After 6 s the remaining motion of the softest constraint was measured below 1e-7.
  const double tolerance = 1e-6;
  EXPECT_NEAR(*read(scene, "touch"), (2 + 2 * 0.5) * kGravity, tolerance * 30);  // floor and ball
  const mjtNum* imu = read(scene, "imu");
  EXPECT_NEAR(imu[0], 0, tolerance);
  EXPECT_NEAR(imu[1], 0, tolerance);
  EXPECT_NEAR(imu[2], kGravity, tolerance * 10);

  // The wrist carries its ball: force against gravity, at the angle of the arm.
  const mjtNum* force = read(scene, "force");
  EXPECT_NEAR(mju_norm3(force), 0.4 * kGravity, tolerance);
  EXPECT_NEAR(mju_norm3(read(scene, "torque")), 0, tolerance);
  const double angle = scene.data->qpos[scene.qpos("arm")];
  const double moment = (0.15 * 1 + 0.3 * 0.4) * kGravity * std::cos(angle);
  EXPECT_NEAR(*read(scene, "arm"), moment, tolerance);
  EXPECT_NEAR(*read(scene, "rope"), 3 * kGravity / 2, tolerance * 10);

  const mjtNum* slab = read(scene, "slab");
  EXPECT_EQ(slab[0], 3);  // MuJoCo's contacts of a cylinder standing on a plane
  EXPECT_NEAR(slab[1] * slab[1] + slab[2] * slab[2] + slab[3] * slab[3], kGravity * kGravity,
              tolerance * 100);
  EXPECT_NEAR(slab[3], kGravity, tolerance * 10);  // in the world's frame
  EXPECT_NEAR(slab[7], 1, tolerance * 10);         // at its middle
  const mjtNum* ball = read(scene, "ball");
  EXPECT_NEAR(ball[0], 0.5 * kGravity, tolerance);
  EXPECT_NEAR(ball[6], 1, tolerance);  // normal, from the box up
}

bool is_idle(const ContactReport& contacts, int i) {
  return contacts.distance[i] > 0 && contacts.normal_impulse[i] == 0;
}

TEST_P(Sensors, ContactForcesAreTheImpulsesReported) {
  Scene scene = make_scene(kBench);
  Stepper stepper(scene.model, {});
  std::mt19937_64 rng(1);
  int num_checked = 0;
  for (int i = 0; i < 200; ++i) {
    if (i % 20 == 0)
      for (int k = 0; k < scene->nv; ++k)
        scene.data->qvel[k] += 0.2 * std::normal_distribution<double>()(rng);
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    int next = 0;
    for (int c = 0; c < scene.data->ncon; ++c) {
      const mjContact& con = scene.data->contact[c];
      if (con.efc_address < 0) continue;
      mjtNum force[6], world[3], torque[3];
      mj_contactForce(scene.model, scene.data, c, force);
      mju_mulMatTVec(world, con.frame, force, 3, 3);
      mju_mulMatTVec(torque, con.frame, force + 3, 3, 3);
      // The report lists contacts in the order of their body pairs, which is MuJoCo's order here.
      // Speculative contacts that did not touch have no rows.
      while (next < report.contacts.size() && is_idle(report.contacts, next)) ++next;
      ASSERT_LT(next, report.contacts.size());
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(0.002 * world[k], report.contacts.impulse[3 * next + k], 1e-14);
        EXPECT_NEAR(0.002 * torque[k], report.contacts.torque_impulse[3 * next + k], 1e-14);
      }
      EXPECT_EQ(report.contacts.geoms[2 * next], con.geom[0]);
      EXPECT_EQ(report.contacts.geoms[2 * next + 1], con.geom[1]);
      EXPECT_EQ(report.contacts.bodies[2 * next + 1], scene->geom_bodyid[con.geom[1]]);
      ++next;
      ++num_checked;
    }
    while (next < report.contacts.size() && is_idle(report.contacts, next)) ++next;
    EXPECT_EQ(next, report.contacts.size());
  }
  EXPECT_GT(num_checked, 500);
}

TEST_P(Sensors, ConstraintForcesAndAccelerationAreThoseOfTheStep) {
  Scene scene = make_scene(kBench);
  Stepper stepper(scene.model, with_tolerance(1e-11));
  run(&stepper, &scene, 50);
  for (int i = 0; i < 20; ++i) {
    const std::vector<mjtNum> before(scene.data->qvel, scene.data->qvel + scene->nv);
    run(&stepper, &scene);
    std::vector<mjtNum> force(scene->nv);
    mj_mulM(scene.model, scene.data, force.data(), scene.data->qacc);
    for (int k = 0; k < scene->nv; ++k) {
      EXPECT_NEAR(scene.data->qacc[k], (scene.data->qvel[k] - before[k]) / 0.002, 1e-10);
      // M a = smooth + constraint, but for the implicit part of the dampers.
      const double damped = 0.002 * scene->dof_damping[k] * scene.data->qacc[k];
      EXPECT_NEAR(force[k] + damped, scene.data->qfrc_smooth[k] + scene.data->qfrc_constraint[k],
                  1e-7);
    }
  }
}

TEST_P(Sensors, StatesOfRowsAreThoseOfTheirForces) {
  Scene scene = make_scene(R"(<worldbody>
<body><joint name="a" axis="0 1 0" range="-600 600" limited="true" frictionloss="0.5"/><geom size="0.05" pos="0.3 0 0" mass="1" contype="0" conaffinity="0"/></body>
<body><joint name="b" axis="0 1 0"/><geom size="0.05" pos="0.3 0 0" mass="1" contype="0" conaffinity="0"/></body>
<body pos="0 1 0"><joint name="c" type="slide" axis="0 0 1" range="-0.1 1" limited="true"/><geom size="0.05" mass="1" contype="0" conaffinity="0"/></body>
<body pos="0 2 0"><joint name="d" type="slide" axis="0 0 1" frictionloss="30"/><geom size="0.05" mass="1" contype="0" conaffinity="0"/></body>
<body name="e" pos="0 3 0.05"><freejoint/><geom size="0.05" mass="1"/></body><geom type="plane" size="5 5 1"/>
</worldbody><equality><joint joint1="a" joint2="b" polycoef="0 0.5 0 0 0"/></equality>)");
  Scene theirs(scene);
  Stepper stepper(scene.model, with_tolerance(1e-8));
  run(&stepper, &scene, 500);
  for (int i = 0; i < 500; ++i) mj_step(theirs.model, theirs.data);
  // Derive the expected states from MuJoCo's forces. MuJoCo's own state of row 2 is wrong: the row
  // carries 9.81 N of 30 N, but the state says that friction is at its bound.
  ASSERT_EQ(scene.data->ne, 1);
  ASSERT_EQ(scene.data->nf, 2);
  ASSERT_EQ(scene.data->nl, 1);
  EXPECT_EQ(scene.data->efc_state[0], mjCNSTRSTATE_QUADRATIC);
  for (const int row : {1, 2}) {
    const double force = theirs.data->efc_force[row];
    const bool is_free = std::abs(force) < 0.98 * theirs.data->efc_frictionloss[row];
    EXPECT_EQ(scene.data->efc_state[row], is_free     ? mjCNSTRSTATE_QUADRATIC
                                          : force > 0 ? mjCNSTRSTATE_LINEARNEG
                                                      : mjCNSTRSTATE_LINEARPOS);
  }
  EXPECT_GT(theirs.data->efc_force[3], 0);
  EXPECT_EQ(scene.data->efc_state[3], mjCNSTRSTATE_QUADRATIC);
  for (int i = 0; i < scene.data->nefc; ++i) EXPECT_EQ(scene.data->efc_b[i], 0);
}

TEST_P(Sensors, SpringsAcrossTreesGiveNoConstraintForce) {
  Scene scene = make_scene(R"(<worldbody>
<body><joint name="a"/><geom size="0.1" mass="1" pos="0.3 0 0" contype="0" conaffinity="0"/></body>
<body pos="0 2 0"><joint name="b"/><geom size="0.1" mass="1" pos="0.3 0 0" contype="0" conaffinity="0"/></body>
</worldbody><tendon><fixed stiffness="100" damping="5"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed></tendon>)");
  scene.data->qpos[0] = 0.3;
  scene.data->qvel[0] = 1;
  Stepper stepper(scene.model, with_tolerance(1e-8));
  run(&stepper, &scene);
  for (int i = 0; i < scene->nv; ++i) EXPECT_EQ(scene.data->qfrc_constraint[i], 0);
}

INSTANTIATE_TEST_SUITE_P(Storage, Sensors,
                         testing::Values(R"(cone="pyramidal" jacobian="dense")",
                                         R"(cone="pyramidal" jacobian="sparse")",
                                         R"(cone="elliptic" jacobian="dense")",
                                         R"(cone="elliptic" jacobian="sparse")"),
                         [](const auto& info) {
                           return std::string(info.index < 2 ? "pyramidal_" : "elliptic_") +
                                  (info.index % 2 ? "sparse" : "dense");
                         });

constexpr const char* kInstruments = R"(
<worldbody>
  <site name="w" pos="0 0 1.5"/>
  <body name="a" pos="0 0 1"><joint name="h" axis="0 1 0" range="-170 170" damping="0.5" stiffness="4"/><geom name="g" type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
    <site name="s" pos="0.2 0.1 0" euler="10 20 30"/>
    <body name="b" pos="0.4 0 0"><joint name="q" type="ball" damping="0.1"/><geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0"/><site name="t" pos="0.1 0 0" euler="0 45 0"/></body></body>
  <body name="c" pos="0 2 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="2"/><site name="u" pos="0.1 0.1 0.1"/></body>
  <camera name="cam" pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
</worldbody>
<tendon><spatial name="x" stiffness="3" damping="1"><site site="w"/><site site="t"/></spatial></tendon>
<actuator><position name="p" joint="h" kp="10" kv="1"/><motor name="m" tendon="x"/></actuator>
<sensor>
  <accelerometer site="s"/><accelerometer site="u"/><velocimeter site="t"/><gyro site="u"/><force site="s"/><torque site="t"/>
  <magnetometer site="s"/><rangefinder site="w"/><camprojection site="t" camera="cam"/>
  <jointpos joint="h"/><jointvel joint="h"/><tendonpos tendon="x"/><tendonvel tendon="x"/>
  <actuatorpos actuator="p"/><actuatorvel actuator="p"/><actuatorfrc actuator="p"/><jointactuatorfrc joint="h"/><tendonactuatorfrc tendon="x"/>
  <ballquat joint="q"/><ballangvel joint="q"/><jointlimitpos joint="h"/><jointlimitvel joint="h"/>
  <framepos objtype="site" objname="t"/><framequat objtype="body" objname="b"/><framexaxis objtype="site" objname="s"/>
  <framelinvel objtype="site" objname="t"/><frameangvel objtype="body" objname="b"/><framelinacc objtype="site" objname="t"/><frameangacc objtype="body" objname="c"/>
  <subtreecom body="a"/><subtreelinvel body="a"/><subtreeangmom body="a"/><distance geom1="g" body2="c"/><e_potential/><e_kinetic/><clock/>
</sensor>)";

TEST(FreeSensors, ReadWhatMuJoCosDiscreteStepReads) {
  Scene ours(
      support::make_mjcf(R"(timestep="0.004" tolerance="0" iterations="200")", kInstruments));
  ours->opt.enableflags |= mjENBL_ENERGY;
  Stepper stepper(ours.model, with_tolerance(1e-12));
  std::mt19937_64 rng(1);
  for (int trial = 0; trial < 10; ++trial) {
    ours.randomize(0.3, &rng);
    Scene theirs(ours);
    theirs->opt.integrator = mjINT_DISCRETE;
    mj_step(theirs.model, theirs.data);
    run(&stepper, &ours);
    for (int s = 0; s < ours->nsensor; ++s) {
      // Accelerations are differences of velocities over the step.
      const bool is_acceleration = ours->sensor_needstage[s] == mjSTAGE_ACC;
      for (int k = 0; k < ours->sensor_dim[s]; ++k) {
        const int i = ours->sensor_adr[s] + k;
        const double tolerance = is_acceleration ? 1e-8 : 1e-12;
        EXPECT_NEAR(ours.data->sensordata[i], theirs.data->sensordata[i],
                    tolerance * (1 + std::abs(theirs.data->sensordata[i])))
            << "sensor " << s << " of type " << ours->sensor_type[s];
      }
    }
    for (int k = 0; k < 2; ++k) EXPECT_EQ(ours.data->energy[k], theirs.data->energy[k]);
    EXPECT_NE(ours.data->energy[1], 0);
  }
}

/// A body on a seesaw and a box that is pushed: contacts that hold by friction alone.
constexpr const char* kHeld = R"(
<worldbody>
  <geom type="plane" size="3 3 1"/>
  <body pos="0 0 .06"><joint axis="0 1 0" damping=".02"/><geom type="box" size=".1 .02 .01" mass=".2"/></body>
  <body name="ball" pos=".06 0 .14"><freejoint/><geom size=".05" mass=".4"/></body>
  <body name="box" pos="1 0 .051"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
</worldbody>)";

// mj_contactForce reads data->contact and efc_force, as sensors and mj_rnePostConstraint do.
TEST_P(Sensors, ContactForcesInMjDataAddUpToTheReportUnderAllRigidModels) {
  for (const contact::ContactModel model : rigid_models()) {
    Scene scene = make_scene(kHeld);
    scene.data->qvel[1] = 0.3;
    for (int i = 4; i < 7; ++i) scene.data->qvel[i] = 5.0 - i;
    scene.data->xfrc_applied[6 * scene.body("box")] = 1;
    Stepper stepper(scene.model, make_options(model));
    for (int step = 0; step < 300; ++step) {
      const StepReport& report = stepper.step(scene.data);
      if (!report.ok()) break;  // drumwright_shell fails on some seesaws
      double listed = 0, found = 0;
      for (std::size_t i = 0; i < report.contacts.impulse.size(); i += 3)
        listed += mju_norm3(&report.contacts.impulse[i]) / report.contacts.time_step;
      for (int i = 0; i < scene.data->ncon; ++i) {
        mjtNum force[6];
        mj_contactForce(scene.model, scene.data, i, force);
        found += mju_norm3(force);
      }
      // Both are sums over the same contacts, rounded once for each change of frame.
      ASSERT_NEAR(found, listed, 1e-12 * listed)
          << contact::traits(model).name << ", step " << step;
    }
  }
}

TEST(FreeSensors, EnergyIsZeroUnlessAskedFor) {
  Scene scene(support::make_mjcf(
      "", R"(<worldbody><body pos="0 0 3"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  Stepper stepper(scene.model, {});
  run(&stepper, &scene);
  EXPECT_EQ(scene.data->energy[0], 0);
  EXPECT_EQ(scene.data->energy[1], 0);
}

}  // namespace
}  // namespace stiction::sim::sensors_test
