// The contents of mjData after a step and Stepper::forward: all of it, and nothing else.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "support/mjdata_fields.hpp"
#include "support/random_scene.hpp"
#include "support/trials.hpp"

namespace stiction::sim::mjdata_test {
namespace {

using contact::ContactModel;
using support::Fields;
using support::Scene;

/// A planar loop, whose equalities have rows without a Jacobian, limits that are reached and limits
/// that are not, tendons with every kind of force, servos, and contacts of every dimension.
constexpr const char* kMachine = R"(
<default><geom friction="0.7 0.02 0.003"/></default>
<worldbody>
  <geom name="floor" type="plane" size="9 9 1"/>
  <site name="anchor" pos="2.5 0 0.5"/>
  <body name="box" pos="0 0 0.099"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1" mass="2"/>
    <site name="pad" type="box" size="0.12 0.12 0.12"/><site name="imu"/></body>
  <body name="ball" pos="0.5 0 0.0499"><freejoint/><geom name="ball" size="0.05" mass="0.5" condim="6"/></body>
  <body pos="1 0 0.05"><freejoint/><geom type="cylinder" size="0.2 0.05" mass="1" condim="1"/></body>
  <body pos="1.5 0 0.08"><freejoint/><geom type="capsule" size="0.08 0.2" mass="1" condim="4"/></body>
  <body name="upper" pos="2 0 1"><joint name="upper" axis="0 -1 0" damping="0.1"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.5" mass="1" contype="0" conaffinity="0"/>
    <site name="hinge"/>
    <body name="lower" pos="0 0 -0.5" euler="0 90 0"><joint name="lower" axis="0 -1 0" frictionloss="0.05"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.5" mass="1" contype="0" conaffinity="0"/>
      <site name="tip" pos="0 0 0.5"/><site name="wrist"/></body></body>
  <body pos="3 0 1"><joint name="arm" axis="0 1 0" range="-90 10" damping="0.5"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/></body>
  <body pos="4 0 1"><joint name="lift" type="slide" axis="0 0 1" damping="5" range="-1 1"/><geom name="lift" size="0.05" mass="3" contype="0" conaffinity="0"/></body>
</worldbody>
<tendon>
  <fixed name="rope" range="-0.1 1" limited="true" stiffness="3" damping="0.2"><joint joint="lift" coef="2"/></fixed>
  <fixed name="drag" frictionloss="0.3"><joint joint="lift" coef="1"/><joint joint="arm" coef="0.5"/></fixed>
</tendon>
<equality><connect site1="anchor" site2="tip"/><joint joint1="arm" joint2="lift" polycoef="0 0.2 0 0 0" active="false"/></equality>
<actuator><position name="servo" joint="arm" kp="20" kv="1"/><motor joint="lift" gear="2"/><velocity joint="upper" kv="0.1"/></actuator>
<sensor>
  <touch name="touch" site="pad"/><accelerometer name="imu" site="imu"/>
  <force site="wrist"/><torque site="hinge"/><jointlimitfrc joint="arm"/><tendonlimitfrc tendon="rope"/>
  <framelinacc objtype="body" objname="ball"/><actuatorfrc actuator="servo"/><e_potential/><e_kinetic/>
  <contact geom1="floor" geom2="box" num="4" reduce="mindist" data="found force torque dist pos normal"/>
</sensor>)";

struct NamedScene {
  std::string name, xml;
};

std::string read_file(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The machine with both cones and both Jacobians.
std::vector<NamedScene> make_machines() {
  std::vector<NamedScene> scenes;
  for (const char* cone : {"pyramidal", "elliptic"})
    for (const char* jacobian : {"dense", "sparse"})
      scenes.push_back({std::string(cone) + " " + jacobian,
                        support::make_mjcf(std::string(R"(timestep="0.002" cone=")") + cone +
                                               R"(" jacobian=")" + jacobian + '"',
                                           kMachine)});
  return scenes;
}

/// The machines, random heaps, a doll, and the scenes of the repository.
std::vector<NamedScene> make_scenes() {
  std::vector<NamedScene> scenes = make_machines();
  for (int seed = 0; seed < 3; ++seed) {
    support::RandomSceneOptions options;
    options.num_bodies = 5;
    options.num_hinged = 3;
    scenes.push_back({"heap " + std::to_string(seed), support::make_random_scene(seed, options)});
  }
  const support::Doll doll = support::make_doll("doll", 0, 0, 0.9);
  scenes.push_back(
      {"doll", support::make_mjcf(R"(timestep="0.002")",
                                  R"(<worldbody><geom type="plane" size="9 9 1"/>)" + doll.body +
                                      "</worldbody><actuator>" + doll.actuators + "</actuator>")});
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(STICTION_SOURCE_DIR) / "scenes"))
    // As one linear complementarity problem, the arch and the cards take seconds a step.
    if (entry.path().extension() == ".xml" && entry.path().stem() != "arch" &&
        entry.path().stem() != "cards")
      scenes.push_back({entry.path().filename().string(), read_file(entry.path())});
  return support::sample_cases(scenes);
}

bool has_polygons(ContactModel model) { return contact::traits(model).options.friction_directions; }

class MjData : public testing::TestWithParam<ContactModel> {
 protected:
  StepOptions options() const {
    StepOptions options = make_options(GetParam());
    options.on_failure = OnFailure::keep_best;  // a failed step leaves its arrays as well
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Models, MjData, testing::ValuesIn(compliant_models()), model_name);
INSTANTIATE_TEST_SUITE_P(RigidModels, MjData, testing::ValuesIn(rigid_models()), model_name);

/// Takes steps with and without poison in mjData. All fields must have the same bits.
void expect_no_poison(const NamedScene& named, const StepOptions& options, int num_steps) {
  SCOPED_TRACE(named.name);
  Scene clean(named.xml);
  Stepper clean_stepper(clean.model, options);
  Scene poisoned[] = {Scene(clean), Scene(clean)};
  const double values[] = {std::numeric_limits<double>::quiet_NaN(), 1e6};
  Stepper steppers[] = {Stepper(poisoned[0].model, options), Stepper(poisoned[1].model, options)};
  for (int step = 0; step < num_steps; ++step) {
    const bool is_ok = clean_stepper.step(clean.data).ok();
    const Fields fields = support::read_fields(clean.model, clean.data);
    for (int i = 0; i < 2; ++i) {
      support::poison(poisoned[i].model, poisoned[i].data, values[i]);
      const StepReport& report = steppers[i].step(poisoned[i].data);
      ASSERT_EQ(report.ok(), is_ok) << report.message;
      const Fields others = support::read_fields(poisoned[i].model, poisoned[i].data);
      ASSERT_EQ(support::find_differences(fields, others), "")
          << "poison " << values[i] << ", step " << step;
    }
    if (!is_ok) return;
  }
}

TEST_P(MjData, AStepLeavesNothingThatItDidNotWrite) {
  const int num_steps = has_polygons(GetParam()) ? 3 : 20;
  for (const NamedScene& scene : make_scenes()) expect_no_poison(scene, options(), num_steps);
}

TEST(MjDataOfDividedSteps, HasNothingThatTheStepDidNotWrite) {
  for (const char* kind : {"event_driven", "rk4"}) {
    StepOptions options = make_options(ContactModel::viscous);
    options.integrator = kind[0] == 'r' ? Integrator::rk4 : Integrator::event_driven;
    for (NamedScene scene : make_machines()) {
      // rk4 refuses dry friction.
      for (const char* text : {R"( frictionloss="0.05")", R"( frictionloss="0.3")"})
        scene.xml.erase(scene.xml.find(text), std::string_view(text).size());
      expect_no_poison({scene.name + " " + kind, scene.xml}, options, 5);
    }
  }
}

/// Returns J^T f.
std::vector<mjtNum> calc_row_forces(const Scene& scene) {
  std::vector<mjtNum> force(scene->nv, 0.0);
  if (scene.data->nefc > 0)
    mj_mulJacTVec(scene.model, scene.data, force.data(), scene.data->efc_force);
  return force;
}

TEST_P(MjData, AStepClearsWhatBelongsToMujocosSolver) {
  for (const NamedScene& named : make_machines()) {
    SCOPED_TRACE(named.name);
    Scene scene(named.xml);
    Stepper stepper(scene.model, options());
    int num_contact_rows = 0;
    for (int step = 0; step < 5; ++step) {
      const StepReport& report = stepper.step(scene.data);
      if (!report.ok()) break;
      const mjData* d = scene.data;
      EXPECT_EQ(d->solver_niter[0], report.statistics.iterations);
      EXPECT_EQ(d->nisland, 0);
      for (int i = 0; i < scene->nv; ++i) EXPECT_EQ(d->qacc_warmstart[i], d->qacc[i]);
      for (int i = 0; i < scene->nC; ++i) EXPECT_EQ(d->qH[i], 0);
      for (int i = 0; i < scene->nD; ++i) EXPECT_EQ(d->qDeriv[i], 0);
      for (int row = d->ne + d->nf + d->nl; row < d->nefc; ++row) {
        ++num_contact_rows;
        for (const mjtNum* array : {d->efc_D, d->efc_R, d->efc_aref, d->efc_vel, d->efc_b})
          EXPECT_EQ(array[row], 0);
        const mjContact& con = d->contact[d->efc_id[row]];
        EXPECT_LE(con.efc_address, row);
        EXPECT_EQ(con.mu, con.dim > 1 ? con.friction[0] : 0);
      }
    }
    EXPECT_GT(num_contact_rows, 0);
  }
}

/// A box that slides on an elliptic cone is in the state 'cone', and one that sticks in
/// 'quadratic'.
TEST(MjDataOfSlip, StateOfContactsTellsSlipFromStiction) {
  for (const double speed : {0.0, 1.0}) {
    Scene scene(support::make_mjcf(R"(timestep="0.002" cone="elliptic")", R"(
<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.02"><freejoint/><geom type="box" size="0.1 0.1 0.02" mass="1"/></body></worldbody>)"));
    Stepper stepper(scene.model, {});
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 200));
    scene.data->qvel[0] = speed;
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 5));
    ASSERT_EQ(scene.data->nefc, 12);
    for (int row = 0; row < scene.data->nefc; ++row)
      EXPECT_EQ(scene.data->efc_state[row], speed > 0 ? mjCNSTRSTATE_CONE : mjCNSTRSTATE_QUADRATIC);
  }
}

TEST_P(MjData, ForwardDoesNotChangeTheNextStep) {
  const int num_steps = has_polygons(GetParam()) ? 3 : 20;
  for (const NamedScene& named : make_scenes()) {
    SCOPED_TRACE(named.name);
    Scene alone(named.xml), both(alone);
    Stepper stepper(alone.model, options()), other(both.model, options());
    for (int step = 0; step < num_steps; ++step) {
      const std::vector<mjtNum> before = both.state();
      (void)other.forward(both.data);
      ASSERT_EQ(both.state(), before);
      const bool is_ok = stepper.step(alone.data).ok();
      ASSERT_EQ(other.step(both.data).ok(), is_ok);
      ASSERT_EQ(support::find_differences(support::read_fields(alone.model, alone.data),
                                          support::read_fields(both.model, both.data)),
                "");
      if (!is_ok) break;
    }
  }
}

TEST_P(MjData, ForwardGivesTheForcesAndSensorsOfTheStep) {
  const int num_steps = has_polygons(GetParam()) ? 3 : 20;
  for (const NamedScene& named : make_scenes()) {
    SCOPED_TRACE(named.name);
    Scene scene(named.xml), copy(scene);
    Stepper stepper(scene.model, options()), other(copy.model, options());
    for (int step = 0; step < num_steps; ++step) {
      copy.set_state(scene.state());
      if (!other.forward(copy.data).ok()) break;
      (void)other.step(scene.data);
      Fields forward = support::read_fields(copy.model, copy.data);
      Fields after = support::read_fields(scene.model, scene.data);
      // A step ends with another state, has no rows of contacts, and no efc_b.
      for (const char* name :
           {"qpos", "qvel", "act", "time", "qacc_warmstart", "efc_J", "efc_J_colind",
            "efc_J_rowadr", "efc_J_rownnz", "efc_vel", "efc_b", "nJ", "parena"}) {
        forward.erase(name);
        after.erase(name);
      }
      ASSERT_EQ(support::find_differences(forward, after), "") << "step " << step;
    }
  }
}

TEST_P(MjData, RowsOfForwardGiveTheConstraintForce) {
  for (const NamedScene& named : make_scenes()) {
    SCOPED_TRACE(named.name);
    Scene scene(named.xml);
    Stepper stepper(scene.model, options());
    for (int step = 0; step < 3; ++step) {
      if (!stepper.forward(scene.data).ok()) break;
      const mjData* d = scene.data;
      const std::vector<mjtNum> force = calc_row_forces(scene);
      std::vector<mjtNum> change(scene->nv), velocity(d->nefc);
      mj_mulM(scene.model, d, change.data(), d->qacc);
      double scale = 0;
      for (int i = 0; i < scene->nv; ++i)
        scale = std::max({scale, std::abs(d->qfrc_constraint[i]), std::abs(change[i])});
      for (int i = 0; i < scene->nv; ++i)
        EXPECT_NEAR(force[i], d->qfrc_constraint[i], 1e-9 * scale) << "dof " << i;
      if (d->nefc > 0) mj_mulJacVec(scene.model, d, velocity.data(), d->qvel);
      for (int i = 0; i < d->nefc; ++i)
        EXPECT_NEAR(d->efc_vel[i], velocity[i], 1e-12 * (1 + std::abs(velocity[i])));
      if (!stepper.step(scene.data).ok()) break;
    }
  }
}

TEST_P(MjData, ForwardOfABoxAtRestReadsItsWeight) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" cone="elliptic")", R"(
<worldbody><geom name="floor" type="plane" size="9 9 1"/>
  <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/>
    <site name="pad" type="box" size="0.12 0.12 0.12"/></body></worldbody>
<sensor><touch site="pad"/><accelerometer site="pad"/></sensor>)"));
  Stepper stepper(scene.model, make_options(GetParam(), 1e-9));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 500));
  const double time = scene.data->time;
  const StepReport& report = stepper.forward(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  // After 1 s the remaining motion was measured below 1e-6.
  EXPECT_NEAR(scene.data->sensordata[0], 9.81, 1e-5);
  EXPECT_NEAR(scene.data->sensordata[3], 9.81, 1e-5);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(scene.data->qacc[i], 0, 1e-5);
  EXPECT_EQ(report.num_steps, 0);
  EXPECT_EQ(scene.data->time, time);
}

TEST(MjDataOfDividedSteps, ForwardDoesNotChangeTheNextStep) {
  for (const char* kind : {"event_driven", "rk4"}) {
    StepOptions options = make_options(ContactModel::viscous);
    options.integrator = kind[0] == 'r' ? Integrator::rk4 : Integrator::event_driven;
    for (NamedScene scene : make_machines()) {
      SCOPED_TRACE(scene.name + " " + kind);
      for (const char* text : {R"( frictionloss="0.05")", R"( frictionloss="0.3")"})
        scene.xml.erase(scene.xml.find(text), std::string_view(text).size());
      Scene alone(scene.xml), both(alone);
      Stepper stepper(alone.model, options), other(both.model, options);
      for (int step = 0; step < 5; ++step) {
        const std::vector<mjtNum> before = both.state();
        const StepReport& report = other.forward(both.data);
        ASSERT_TRUE(report.ok()) << report.message;
        ASSERT_EQ(both.state(), before);
        const std::vector<mjtNum> sensors(both.data->sensordata,
                                          both.data->sensordata + both->nsensordata);
        ASSERT_TRUE(stepper.step(alone.data).ok());
        ASSERT_TRUE(other.step(both.data).ok());
        ASSERT_EQ(support::find_differences(support::read_fields(alone.model, alone.data),
                                            support::read_fields(both.model, both.data)),
                  "");
        for (int i = 0; i < both->nsensordata; ++i)
          EXPECT_EQ(both.data->sensordata[i], sensors[i]) << "sensor number " << i;
      }
    }
  }
}

/// Under rk4 friction is viscous, and explicit. It is a force of the contacts all the same.
TEST(MjDataOfDividedSteps, ContactForcesHaveViscousFriction) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" cone="elliptic")", R"(
<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.0999999"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body></worldbody>)"));
  StepOptions options = make_options(ContactModel::viscous);
  options.integrator = Integrator::rk4;
  plant::MaterialTable materials = plant::make_default_materials(scene.model);
  for (plant::Material& material : materials.geoms) material.law.viscous_friction = 3;
  Stepper stepper(scene.model, options, materials);
  scene.data->qvel[0] = 0.5;
  const StepReport& report = stepper.forward(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  const mjtNum deceleration = -scene.data->qacc[0];
  EXPECT_GT(deceleration, 0.1);
  EXPECT_NEAR(scene.data->qfrc_constraint[0], -2 * deceleration, 1e-10);
  const std::vector<mjtNum> force = calc_row_forces(scene);
  for (int i = 0; i < scene->nv; ++i)
    EXPECT_NEAR(force[i], scene.data->qfrc_constraint[i], 1e-8) << "dof " << i;
}

/// A step after a step of MuJoCo, with any of its integrators, has the bits of one in new data.
TEST(MjDataOfMixedSteps, HasNothingOfMujocosStep) {
  for (const char* integrator : {"Euler", "implicit", "implicitfast", "discrete", "RK4"}) {
    const std::string xml = support::make_mjcf(
        std::string(R"(timestep="0.002" integrator=")") + integrator + '"', kMachine);
    Scene fresh(xml), used(fresh);
    mj_step(used.model, used.data);
    mj_step(used.model, used.data);
    used.set_state(fresh.state());
    Stepper stepper(fresh.model, {}), other(used.model, {});
    for (int step = 0; step < 3; ++step) {
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &fresh));
      ASSERT_NO_FATAL_FAILURE(run(&other, &used));
      EXPECT_EQ(support::find_differences(support::read_fields(fresh.model, fresh.data),
                                          support::read_fields(used.model, used.data)),
                "")
          << integrator;
    }
  }
}

}  // namespace
}  // namespace stiction::sim::mjdata_test
