// Steps without contact, compared with MuJoCo's integrator `discrete`. It has the same implicit
// springs, dampers and servos, but its own matrices and solver.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stiction/sim/stepper.hpp"
#include "support/scene.hpp"

namespace stiction::sim::free_motion_test {
namespace {

using support::Scene;

struct FreeScene {
  const char* name;
  const char* body;  // null: the spider
};

void PrintTo(const FreeScene& scene, std::ostream* out) { *out << scene.name; }

constexpr FreeScene kScenes[] = {
    {"all_joints", R"(
<worldbody>
  <body pos="0 0 1"><joint name="h" type="hinge" axis="0 1 0.3"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint type="slide" axis="1 0 1"/><geom type="box" size="0.1 0.2 0.05" mass="2"/>
      <body pos="0.3 0 0"><joint type="ball"/><geom type="capsule" size="0.05 0.2" pos="0.1 0 0.1" mass="0.5"/>
      </body></body>
    <body pos="0 0.4 0"><joint axis="1 0 0"/><joint axis="0 0 1"/><geom size="0.1" pos="0 0.1 0" mass="0.7"/></body>
  </body>
  <body pos="0 0 5"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="1.5"/></body>
  <body pos="0 3 5"><freejoint/><geom size="0.1" mass="1"/>
    <body pos="0.2 0 0"><joint axis="0 0 1"/><geom size="0.1" pos="0.1 0 0" mass="0.3"/></body></body>
</worldbody>)"},
    {"springs_and_dampers", R"(
<worldbody>
  <body pos="0 0 1"><joint type="hinge" axis="0 1 0.3" stiffness="300" springref="0.4" damping="2" armature="0.1"/>
    <geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint type="slide" axis="1 0 1" stiffness="200 30 500" damping="1 0.5 0.2"/>
      <geom type="box" size="0.1 0.2 0.05" mass="2"/>
      <body pos="0.3 0 0"><joint type="ball" stiffness="5" damping="0.1"/>
        <geom type="capsule" size="0.05 0.2" pos="0.1 0 0.1" mass="0.5"/></body></body>
  </body>
  <body pos="0 0 5"><joint type="free" stiffness="40" damping="0.3" armature="0.02"/>
    <geom type="box" size="0.1 0.2 0.3" mass="1.5"/></body>
  <body pos="0 2 1"><joint type="hinge" axis="1 0 0" stiffness="10 -20 4" damping="0 1 0"/><geom size="0.1" pos="0 0 0.3"/></body>
  <body pos="0 4 1"><joint type="ball" stiffness="3 2 1" damping="0.1 0.2 0.3"/><geom size="0.1"/></body>
</worldbody>)"},
    {"fixed_tendons", R"(
<worldbody>
  <body><joint name="a" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body>
    <body pos="0.4 1 0"><joint name="c" axis="0 1 0"/><geom size="0.1" mass="2" pos="0.2 0 0"/></body></body>
  <body pos="0 5 0"><joint name="d" type="slide"/><geom size="0.1" mass="3"/></body>
</worldbody>
<tendon>
  <fixed stiffness="100" damping="3" springlength="0.1 0.2"><joint joint="a" coef="1"/><joint joint="b" coef="-0.5"/></fixed>
  <fixed stiffness="50" damping="1"><joint joint="b" coef="1"/><joint joint="c" coef="2"/></fixed>
  <fixed stiffness="70 20 10" damping="2 1 0.5"><joint joint="a" coef="1"/><joint joint="d" coef="3"/></fixed>
  <fixed damping="5"><joint joint="d" coef="2"/></fixed>
</tendon>)"},
    {"spatial_tendons", R"(
<worldbody>
  <site name="w" pos="0 0 1"/>
  <body name="post" pos="0.2 0 0.5"><geom name="wrap" type="cylinder" size="0.05" fromto="0 -0.2 0 0 0.2 0"/></body>
  <body><joint axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/><site name="a" pos="0.3 0 0.05"/>
    <body pos="0.4 0 0"><joint axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/><site name="b" pos="0.3 0 0.05"/></body></body>
  <!-- A cube: MuJoCo leaves out the gyroscopic term of a body that a tendon holds. -->
  <body pos="0 0 2"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/><site name="f" pos="0.1 0.1 -0.1"/></body>
</worldbody>
<tendon>
  <spatial stiffness="200" damping="5" springlength="0.1"><site site="w"/><site site="b"/></spatial>
  <spatial stiffness="80" damping="1" springlength="0.2 0.4"><site site="a"/><site site="f"/></spatial>
  <spatial stiffness="60" damping="2" springlength="0.3"><site site="w"/><geom geom="wrap"/><site site="a"/></spatial>
</tendon>)"},
    {"servos", R"(
<worldbody>
  <site name="ref" pos="0.5 0 0.5"/>
  <body><joint name="a" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
      <body pos="0.4 0 0"><joint name="c" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/><site name="tip"/></body></body></body>
  <body pos="0 3 0"><joint name="d" axis="0 0 1"/><geom size="0.1" pos="0.3 0 0" mass="1"/></body>
</worldbody>
<tendon><fixed name="t"><joint joint="b" coef="1"/><joint joint="d" coef="-1"/></fixed></tendon>
<actuator>
  <position joint="a" kp="500" kv="10"/>
  <position joint="b" kp="200" dampratio="0.7" gear="2"/>
  <velocity joint="c" kv="30"/>
  <general joint="d" gaintype="affine" gainprm="1 -3 -2" biastype="affine" biasprm="1 -20 -4" ctrlrange="0 1"/>
  <position tendon="t" kp="100" kv="3"/>
  <position site="tip" refsite="ref" kp="50" kv="2" gear="1 0 0 0 0 0"/>
  <intvelocity joint="c" kp="80" kv="1" actrange="-1 1"/>
  <damper joint="a" kv="5" ctrlrange="0 2"/>
</actuator>)"},
    {"saturated_servos", R"(
<worldbody>
  <body><joint name="a" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body>
  <body pos="0 1 0"><joint name="b" axis="0 1 0" actuatorfrcrange="-2 2"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body>
  <body pos="0 2 0"><joint name="c" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body>
  <body pos="0 3 0"><joint name="d" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body>
</worldbody>
<tendon>
  <fixed name="t" actuatorfrcrange="-1 1"><joint joint="c" coef="1"/></fixed>
</tendon>
<actuator>
  <position joint="a" kp="500" kv="10" forcerange="-3 3"/>
  <position joint="b" kp="500" kv="10"/>
  <position tendon="t" kp="500" kv="10"/>
  <position joint="d" kp="500" kv="10" forcerange="-1e6 1e6"/>
</actuator>)"},
    {"actuator_damping_and_armature", R"(
<worldbody>
  <body><joint name="a" axis="0 1 0" damping="1"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body></body>
</worldbody>
<tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
<actuator>
  <motor joint="a" gear="3" damping="0.5 0.2 0.1" armature="0.02"/>
  <motor joint="b" gear="-2" damping="0.4"/>
  <motor jointinparent="b" damping="0.1 0.2 0.3"/>
  <motor tendon="t" damping="0.7 0.1 0"/>
</actuator>)"},
    {"orientation_servos", R"(
<worldbody>
  <site name="w" pos="0 0 0.5"/>
  <body><joint axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint name="c" type="ball"/><geom type="box" size="0.1 0.2 0.1" mass="1" pos="0.2 0 0"/><site name="s"/></body></body>
</worldbody>
<actuator>
  <orientation joint="c" kp="20" kv="1"/>
  <orientation site="s" refsite="w" kp="5" kv="0.1"/>
  <position jointinparent="c" kp="20" kv="1" gear="1 0.5 0.2"/>
</actuator>)"},
    {"gravity_compensation", R"(
<worldbody>
  <body gravcomp="1"><joint axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0" gravcomp="0.5"><joint name="b" axis="0 1 0" actuatorgravcomp="true" actuatorfrcrange="-1 1"/>
      <geom size="0.1" mass="1" pos="0.2 0 0"/></body></body>
</worldbody>
<actuator><motor joint="b"/></actuator>)"},
    // The gyroscopic moment of a single ball pendulum is explicit in MuJoCo and implicit here, so
    // this pendulum hangs from a hinge, and others are spheres about the joint; see
    // dynamics_test.cpp.
    {"spinning_bodies", R"(
<worldbody>
  <body pos="0 0 1"><freejoint/><geom type="box" size="0.05 0.2 0.4" mass="1"/></body>
  <body pos="0 2 1"><freejoint/><inertial pos="0.1 -0.2 0.3" mass="2" diaginertia="0.1 0.25 0.3" euler="20 30 40"/></body>
  <body pos="0 4 1"><joint type="free" armature="0.3" damping="0.2"/>
    <inertial pos="0.1 0 0.1" mass="2" diaginertia="0.1 0.25 0.3"/></body>
  <body pos="0 6 1"><freejoint/><geom size="0.1"/><body pos="0.2 0 0"><geom type="box" size="0.1 0.2 0.1"/></body></body>
  <body pos="0 8 1"><joint axis="0 1 0"/><geom size="0.1"/>
    <body><joint type="ball"/><geom type="box" size="0.05 0.2 0.4" pos="0 0 -0.3" mass="1"/></body></body>
</worldbody>)"},
    // The rest lengths of plastic springs change with the motion. By the third trial all of them
    // are far from those of the model.
    {"plastic_springs", R"(
<worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" stiffness="30" springyield="0.02"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint name="b" type="slide" stiffness="20 3 40" springyield="0.05"/><geom size="0.1" mass="1"/></body></body>
  <body pos="0 2 1"><joint type="ball" stiffness="3" springyield="0.1"/><geom size="0.1"/></body>
</worldbody>
<tendon>
  <fixed stiffness="400" springyield="0.1" springlength="-0.02 0.02"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed>
</tendon>)"},
    {"spider", nullptr},
    {"tendon_armature", R"(
<worldbody>
  <body><joint name="a" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
    <body pos="0.4 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body></body>
</worldbody>
<tendon><fixed armature="0.3" stiffness="20"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>)"},
};

double max_difference(const mjtNum* a, const mjtNum* b, int n) {
  double max = 0;
  for (int i = 0; i < n; ++i) max = std::max(max, std::abs(a[i] - b[i]));
  return max;
}

/// A tree of five blocks, a trunk with four legs, and tendons and servos along and across its legs.
std::string make_spider() {
  std::string xml = R"(<worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/>)";
  for (int leg = 0; leg < 4; ++leg) {
    for (int i = 0; i < 5; ++i) {
      const std::string name = std::to_string(leg) + std::to_string(i);
      xml += R"(<body pos="0.1 0 0"><joint name=")" + name + R"(" axis=")" +
             (i % 2 ? "0 1 0" : "0 0 1") + R"("/><geom size="0.03" pos="0.05 0.01 0"/>)";
    }
    for (int i = 0; i < 5; ++i) xml += "</body>";
  }
  return xml + R"(</body></worldbody>
<tendon>
  <fixed name="along" stiffness="5" damping="0.1"><joint joint="00" coef="1"/><joint joint="03" coef="-1"/></fixed>
  <fixed name="across" stiffness="3" damping="0.2"><joint joint="01" coef="1"/><joint joint="14" coef="2"/></fixed>
  <fixed name="three" stiffness="2" damping="0.1"><joint joint="10" coef="1"/><joint joint="22" coef="1"/><joint joint="34" coef="1"/></fixed>
</tendon>
<actuator><position tendon="across" kp="4" kv="0.1"/><position joint="20" kp="3" kv="0.1"/></actuator>)";
}

class FreeMotion : public testing::TestWithParam<FreeScene> {
 protected:
  FreeMotion()
      : ours_(support::make_mjcf(R"(timestep="0.004" iterations="200" tolerance="0")",
                                 GetParam().body ? GetParam().body : make_spider())) {
    ours_->opt.disableflags |= mjDSBL_CONTACT;
  }

  /// MuJoCo's step of the same state with its discrete integrator.
  Scene step_mujoco() {
    Scene theirs(ours_);
    theirs->opt.integrator = mjINT_DISCRETE;
    mj_step(theirs.model, theirs.data);
    return theirs;
  }

  Scene ours_;
};

TEST_P(FreeMotion, EqualsMuJoCosDiscreteStep) {
  StepOptions options;
  options.tolerance = 1e-12;
  Stepper stepper(ours_.model, options);
  std::mt19937_64 rng(1);
  double fastest = 0;
  for (int trial = 0; trial < 20; ++trial) {
    ours_.randomize(trial % 2 ? 0.5 : 0.05, &rng);
    if (trial % 4 == 3) mju_scl(ours_.data->qvel, ours_.data->qvel, 20, ours_->nv);
    const Scene theirs = step_mujoco();
    const StepReport& report = stepper.step(ours_.data);
    ASSERT_TRUE(report.ok()) << report.message;
    const double speed = mju_norm(theirs.data->qvel, ours_->nv);
    fastest = std::max(fastest, speed);
    EXPECT_LE(max_difference(ours_.data->qvel, theirs.data->qvel, ours_->nv), 1e-10 * (1 + speed))
        << "trial " << trial;
    EXPECT_LE(max_difference(ours_.data->qpos, theirs.data->qpos, ours_->nq), 1e-12 * (1 + speed));
    for (int i = 0; i < ours_->na; ++i) EXPECT_EQ(ours_.data->act[i], theirs.data->act[i]);
    EXPECT_LE(max_difference(ours_.data->plastic, theirs.data->plastic, ours_->nplastic),
              1e-12 * (1 + speed));
    EXPECT_EQ(ours_.data->time, theirs.data->time);
  }
  EXPECT_GT(fastest, 1);
}

TEST(BallPendulum, SpinsFastAtALargeTimeStepWithoutGainingEnergy) {
  Scene scene(support::make_mjcf(
      R"(timestep="0.02" gravity="0 0 0")",
      R"(<worldbody><body><joint type="ball"/><geom type="box" size="0.1 0.2 0.4" pos="0.1 0.2 0.3"/></body></worldbody>)"));
  scene.data->qvel[0] = 20;
  scene.data->qvel[1] = -10;
  scene.data->qvel[2] = 5;
  Stepper stepper(scene.model, {});
  const auto calc_energy = [&] {
    mj_forward(scene.model, scene.data);
    mj_energyVel(scene.model, scene.data);
    return scene.data->energy[1];
  };
  double energy = calc_energy();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(stepper.step(scene.data).ok());
    const double now = calc_energy();
    ASSERT_LE(now, energy * (1 + 1e-12)) << "step " << i;
    energy = now;
  }
}

TEST(Fluid, ForcesEqualMuJoCos) {
  // MuJoCo has two fluid models: inertia boxes, and ellipsoids with lift and added mass.
  Scene ours(
      support::make_mjcf(R"(timestep="0.004" density="50" viscosity="0.2" wind="1 0.5 0")", R"(
<worldbody>
  <body pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.05" mass="2"/></body>
  <body pos="0 2 1"><freejoint/><geom type="ellipsoid" size="0.2 0.1 0.05" mass="3" fluidshape="ellipsoid"/></body>
  <body pos="0 4 1"><joint axis="0 1 0"/><geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0" mass="1" fluidshape="ellipsoid"/>
    <body pos="0.4 0 0"><joint type="ball"/><geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0" mass="1"/></body></body>
</worldbody>)"));
  Stepper stepper(ours.model, {});
  std::mt19937_64 rng(2);
  double largest = 0;
  for (int trial = 0; trial < 10; ++trial) {
    ours.randomize(0.5, &rng);
    Scene theirs(ours);
    mj_step(theirs.model, theirs.data);
    ASSERT_TRUE(stepper.step(ours.data).ok());
    for (int i = 0; i < ours->nv; ++i)
      EXPECT_EQ(ours.data->qfrc_fluid[i], theirs.data->qfrc_fluid[i]);
    largest = std::max(largest, mju_norm(ours.data->qfrc_fluid, static_cast<int>(ours->nv)));
  }
  EXPECT_GT(largest, 1);
}

/// Chains of hinges and balls, because the gyroscopic force of free bodies is implicit here. The
/// spheres have no lift, no Magnus force and no added mass, whose derivatives our step leaves out.
TEST(Fluid, DragIsThatOfImplicitfast) {
  Scene ours(support::make_mjcf(
      R"(timestep="0.004" density="500" viscosity="5" wind="1 0.5 0" integrator="implicitfast")",
      R"(
<worldbody>
  <body pos="0 4 1"><joint axis="0 1 0"/><geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0" mass="1"/>
    <body pos="0.4 0 0"><joint type="ball"/><geom type="box" size="0.2 0.1 0.05" pos="0.2 0 0" mass="1"/></body></body>
  <body pos="0 2 1"><joint axis="0 1 0"/><geom size="0.1" pos="0.4 0 0.1" mass="1" fluidshape="ellipsoid" fluidcoef="0.5 0.25 1.5 1 0"/>
    <body pos="0.4 0 0"><joint axis="0 0 1"/><geom size="0.15" pos="0.3 0.1 0" mass="2" fluidshape="ellipsoid" fluidcoef="0.5 0.25 1.5 1 0"/></body></body>
</worldbody>)"));
  for (int geom = 0; geom < ours->ngeom; ++geom)
    mju_zero(ours->geom_fluid + mjNFLUID * geom + 6, 6);  // added mass
  Stepper stepper(ours.model, {});
  std::mt19937_64 rng(2);
  double explicit_difference = 0;
  for (int trial = 0; trial < 10; ++trial) {
    ours.randomize(0.5, &rng);
    Scene theirs(ours), euler(ours);
    euler->opt.integrator = mjINT_EULER;
    mj_step(theirs.model, theirs.data);
    mj_step(euler.model, euler.data);
    ASSERT_TRUE(stepper.step(ours.data).ok());
    const int nv = static_cast<int>(ours->nv);
    EXPECT_LE(max_difference(ours.data->qvel, theirs.data->qvel, nv), 1e-11);
    explicit_difference =
        std::max(explicit_difference, max_difference(ours.data->qvel, euler.data->qvel, nv));
  }
  EXPECT_GT(explicit_difference, 1e-2);
}

/// A light box in oil and in water, of both models, at a step that is ten times longer than its
/// time constants, comes to rest with the fluid.
TEST(Fluid, DragIsStableAtLargeTimeSteps) {
  for (const char* shape : {"none", "ellipsoid"})
    for (const char* fluid : {R"(viscosity="50")", R"(viscosity="50" density="1000")"}) {
      Scene scene(support::make_mjcf(std::string(R"(timestep="0.005" )") + fluid,
                                     std::string(R"(
<worldbody><body pos="0 0 1"><freejoint/><geom type="box" size="0.01 0.02 0.03" mass="0.01" fluidshape=")") +
                                         shape + R"("/></body></worldbody>)"));
      const mjtNum start[] = {3, 0, 0, 10, 20, 30};
      mju_copy(scene.data->qvel, start, 6);
      Stepper stepper(scene.model, {});
      for (int i = 0; i < 300; ++i) {
        ASSERT_TRUE(stepper.step(scene.data).ok());
        EXPECT_LT(mju_norm(scene.data->qvel, 6), 38);
      }
      // It sinks at the speed m g / (6 pi mu r), and does not turn.
      EXPECT_LT(mju_norm(scene.data->qvel, 6), 0.02);
    }
}

INSTANTIATE_TEST_SUITE_P(Scenes, FreeMotion, testing::ValuesIn(kScenes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stiction::sim::free_motion_test
