// Sleeping trees wake by everything that changes the step that they leave out.
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <mujoco/mjxmacro.h>

#include "sim/sleep/sleeping.hpp"
#include "stiction/plant/model/model_digest.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::waking_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// A scene with everything that can wake a box: a floor and a table, mocap bodies that carry, hold
/// and approach one, a servo, equalities, and a body that flies.
std::string make_scene() {
  return support::make_mjcf(
      R"(timestep="0.002" actuatorgroupdisable="3"><flag sleep="enable"/></option><option)",
      R"(<worldbody>
<geom name="floor" type="plane" size="9 9 1"/>
<body name="tray" mocap="true" pos="6 0 .5"><geom type="box" size=".5 .5 .1"/></body>
<body name="pusher" mocap="true" pos="-6 0 5"><geom size=".1"/></body>
<body name="hook" mocap="true" pos="8 0 1"><geom size=".02" contype="0" conaffinity="0"/></body>
)" + make_box("low", 0, 0.1) +
          make_box("high", 0, 0.3) + make_box("far", 3, 0.1) + make_box("carried", 6, 0.7) +
          make_box("hung", 8, 0.6) + make_box("tied", 9, 0.1) +
          R"(
<body name="door" pos="-3 0 1" sleep="allowed"><joint name="hinge" damping="1"/>
  <geom size=".05" pos="0 0 -.3" mass="1" contype="0" conaffinity="0"/></body>
<body name="lever" pos="-4 0 1" sleep="allowed"><joint name="lever" damping="1"/>
  <geom size=".05" pos="0 0 -.3" mass="1" contype="0" conaffinity="0"/></body>
<body name="ball" pos="30 0 20" sleep="never"><freejoint/><geom size=".1" mass="1"/></body>
</worldbody>
<contact><exclude body1="ball" body2="far"/></contact>
<equality><connect body1="hung" body2="hook" anchor="0 0 .4"/>
  <weld name="weld" body1="tied" active="false"/></equality>
<actuator><position joint="hinge" kp="10" kv="1"/>
  <general joint="lever" dyntype="filter" dynprm=".001" gainprm="1"/>
  <motor joint="lever" group="3"/></actuator>)");
}

struct Cause {
  const char* name;
  const char* sleeper;                 // the tree that wakes
  std::function<void(Scene*)> change;  // made by the caller
};

void PrintTo(const Cause& cause, std::ostream* out) { *out << cause.name; }

mjtNum* velocity(Scene* scene, const char* body) {
  return scene->data->qvel + scene->model->body_dofadr[scene->body(body)];
}
mjtNum* position(Scene* scene, const char* body) {
  return scene->data->qpos +
         scene->model->jnt_qposadr[scene->model->body_jntadr[scene->body(body)]];
}
int mocap_of(const Scene& scene, const char* body) {
  return scene.model->body_mocapid[scene.body(body)];
}

std::vector<Cause> make_causes() {
  return {
      {"Position", "low", [](Scene* s) { position(s, "low")[2] += 1e-9; }},
      {"Velocity", "low", [](Scene* s) { velocity(s, "low")[0] = 1e-12; }},
      {"AppliedWrench", "low", [](Scene* s) { s->data->xfrc_applied[6 * s->body("low")] = 1e-6; }},
      {"AppliedForce", "low",
       [](Scene* s) { s->data->qfrc_applied[s->model->body_dofadr[s->body("low")]] = 1e-6; }},
      {"NeighborOfItsIsland", "low", [](Scene* s) { velocity(s, "high")[0] = 1e-12; }},
      {"Gravity", "low", [](Scene* s) { s->model->opt.gravity[0] = 1e-3; }},
      {"TimeStep", "low", [](Scene* s) { s->model->opt.timestep = 0.001; }},
      {"FloorMovesAway", "low",
       [](Scene* s) { s->model->geom_pos[3 * s->geom("floor") + 2] = -1; }},
      {"FloorLetsGo", "low",
       [](Scene* s) {
         s->model->geom_contype[s->geom("floor")] = s->model->geom_conaffinity[s->geom("floor")] =
             0;
       }},
      {"ExcludedPair", "low", [](Scene* s) { s->model->exclude_signature[0] = s->body("low"); }},
      {"Friction", "low", [](Scene* s) { s->model->geom_friction[3 * s->geom("low")] = 0.5; }},
      {"Mass", "low", [](Scene* s) { s->model->body_mass[s->body("low")] = 2; }},
      {"Conveyor", "low",
       [](Scene* s) {
         s->model->geom_surfacevel[6 * s->geom("floor")] = 0.1;
         s->model->flg_surfacevel = 1;
       }},
      {"DisabledContact", "low", [](Scene* s) { s->model->opt.disableflags |= mjDSBL_CONTACT; }},
      {"Control", "door", [](Scene* s) { s->data->ctrl[0] = 0.1; }},
      {"ControlOfAFilter", "lever", [](Scene* s) { s->data->ctrl[1] = 0.1; }},
      {"GroupOfADisabledActuator", "lever", [](Scene* s) { s->model->actuator_group[2] = 0; }},
      {"Activation", "lever", [](Scene* s) { s->data->act[0] = 0.1; }},
      {"ActivatedEquality", "tied", [](Scene* s) { s->data->eq_active[1] = 1; }},
      {"DeactivatedEquality", "hung", [](Scene* s) { s->data->eq_active[0] = 0; }},
      {"MocapBodyThatCarriesIt", "carried",
       [](Scene* s) { s->data->mocap_pos[3 * mocap_of(*s, "tray") + 2] -= 1; }},
      {"MocapBodyThatHoldsIt", "hung",
       [](Scene* s) { s->data->mocap_pos[3 * mocap_of(*s, "hook")] += 1e-4; }},
      {"MocapBodyThatIsSetIntoIt", "low",
       [](Scene* s) {
         mjtNum* pos = s->data->mocap_pos + 3 * mocap_of(*s, "pusher");
         pos[0] = -0.19, pos[1] = 0, pos[2] = 0.1;
       }},
      {"BodyThatHitsIt", "low",
       [](Scene* s) {
         mjtNum* q = position(s, "ball");
         q[0] = -0.3, q[1] = 0, q[2] = 0.1;
         velocity(s, "ball")[0] = 60;  // closes a gap of 0.1 m within the step
       }},
      {"TreeAsleep", "low", [](Scene* s) { s->data->tree_asleep[tree_of(*s, "high")] = -1; }},
  };
}

class Waking : public testing::TestWithParam<Cause> {
 protected:
  Waking() : scene(make_scene()), stepper(scene.model, make_options(ContactModel::lagged)) {
    scene.data->ctrl[2] = 0.1;
  }
  /// Steps until all trees but the ball sleep.
  void fall_asleep() {
    for (int i = 0; i < 8000 && scene.data->ntree_awake > 1; ++i)
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    ASSERT_EQ(scene.data->ntree_awake, 1);
    mjtNum* q = position(&scene, "ball");
    q[0] = 30, q[2] = 20;
    std::fill_n(velocity(&scene, "ball"), 6, 0.0);
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  }
  Scene scene;
  Stepper stepper;
};
INSTANTIATE_TEST_SUITE_P(Causes, Waking, testing::ValuesIn(make_causes()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Waking, HappensInTheStepAfterTheChange) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  ASSERT_TRUE(sleeps(scene, GetParam().sleeper));
  GetParam().change(&scene);
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  EXPECT_FALSE(sleeps(scene, GetParam().sleeper));
}

// Changes that act on nothing that sleeps wake nothing.
TEST_F(Waking, NeedsACause) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  scene.model->geom_rgba[0] = 0.5;
  scene.data->mocap_pos[3 * mocap_of(scene, "pusher")] += 0.1;
  velocity(&scene, "ball")[0] = 1;
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 20));
  EXPECT_EQ(scene.data->ntree_awake, 1);
}

/// A scene with elements of all kinds, and numbers of the user.
constexpr const char* kElements = R"(
<asset><material name="red" rgba="1 0 0 1"/><material name="blue" rgba="0 0 1 1"/></asset>
<worldbody><camera name="eye" pos="0 0 3" user="1"/>
<geom type="plane" size="9 9 1" material="red" user="1"/><site name="s" pos="1 0 1" material="red"/>
<body pos="0 0 .09" user="1"><joint type="slide" axis="0 0 1" group="2" user="1"/>
  <joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/>
  <site name="t" pos="0 0 .2" user="1"/></body></worldbody>
<tendon><spatial springlength=".1" stiffness="9" group="1" material="red" user="1"><site site="s"/>
  <site site="t"/></spatial></tendon>
<actuator><motor joint="x" user="1"/><motor joint="x" group="3"/></actuator>
<sensor><jointpos joint="x" user="1"/></sensor>)";

/// Changes a value to another one that its array may have.
template <class T>
void change_value(T* value) {
  if constexpr (std::is_integral_v<T>)
    *value = *value == 0 ? 1 : 0;
  else
    *value = *value == 0.25 ? 0.75 : 0.25;
}

/// Returns the state after 0.1 s with other values in an array of the model.
std::vector<mjtNum> run_with_change(std::string_view array) {
  Scene scene(support::make_mjcf(R"(timestep="0.002" actuatorgroupdisable="3")", kElements));
  std::fill_n(scene.data->ctrl, 2, 1.0);
  mjModel* m = scene.model;
  int num_changed = 0;
  MJMODEL_POINTERS_PREAMBLE(m)
#define X(type, name, rows, columns) \
  if (array == #name)                \
    for (mjtSize i = 0; i < m->rows * (columns); ++i, ++num_changed) change_value(m->name + i);
  MJMODEL_POINTERS
#undef X
  EXPECT_TRUE(num_changed > 0 || array.empty() || array == "dof_user") << array;
  Stepper stepper(m, make_options(ContactModel::lagged));
  run(&stepper, &scene, 50);
  return scene.state();
}

// What the digest of the model leaves out may change while trees sleep, because no step reads it.
TEST(WakingByTheModel, LeavesOutOnlyWhatNoStepReads) {
  const std::vector<mjtNum> expected = run_with_change("");
  EXPECT_FALSE(support::has_same_bits(run_with_change("actuator_group"), expected));
  for (const std::string_view array : plant::ModelDigest::left_out())
    EXPECT_TRUE(support::has_same_bits(run_with_change(array), expected)) << array;
}

// A tree that woke acts in the same step, with the forces that it has if nothing sleeps.
TEST_P(Waking, HasTheForcesOfTheStepWithoutSleep) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  // Both begin without a step before, so that mocap bodies have no velocity in either.
  Scene awake(scene);
  awake.model->opt.enableflags &= ~mjENBL_SLEEP;
  Stepper other(awake.model, make_options(ContactModel::lagged));
  GetParam().change(&scene);
  GetParam().change(&awake);
  if (std::string(GetParam().name) == "TreeAsleep") return;
  if (std::string(GetParam().name).starts_with("MocapBody")) return;  // tested below
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  ASSERT_NO_FATAL_FAILURE(run(&other, &awake));
  const int body = scene.body(GetParam().sleeper), dof = scene.model->body_dofadr[body];
  for (int i = dof; i < dof + scene.model->body_dofnum[body]; ++i)
    EXPECT_EQ(scene.data->qvel[i], awake.data->qvel[i]) << i;
}

// A mocap body that keeps moving keeps those awake that it touches, although they hold still.
TEST_F(Waking, LastsWhileAMocapBodyMoves) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  for (int i = 0; i < 100; ++i) {
    scene.data->mocap_pos[3 * mocap_of(scene, "tray") + 2] -= 1e-6;
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    ASSERT_FALSE(sleeps(scene, "carried")) << i;
  }
}

TEST_F(Waking, IsFollowedBySleepAgain) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  scene.data->xfrc_applied[6 * scene.body("far") + 2] = 30;
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 20));
  EXPECT_FALSE(sleeps(scene, "far"));
  EXPECT_TRUE(sleeps(scene, "low"));
  scene.data->xfrc_applied[6 * scene.body("far") + 2] = 0;
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 1000));
  EXPECT_TRUE(sleeps(scene, "far"));
}

/// Sets a control, an applied force or both from a callback.
struct ControlCallback {
  explicit ControlCallback(mjfGeneric callback) { mjcb_control = callback; }
  ~ControlCallback() { mjcb_control = nullptr; }
};

TEST_F(Waking, ByACallbackHappensInItsStep) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  const ControlCallback callback([](const mjModel*, mjData* d) { d->ctrl[0] = 0.2; });
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
  EXPECT_FALSE(sleeps(scene, "door"));
  EXPECT_NE(velocity(&scene, "door")[0], 0);
  EXPECT_TRUE(sleeps(scene, "low"));
}

TEST_F(Waking, ByAPassiveCallbackLasts) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  mjcb_passive = [](const mjModel*, mjData*) {};
  const StepReport& report = stepper.step(scene.data, 50);
  mjcb_passive = nullptr;
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_EQ(report.statistics.num_asleep, 0);
}

// Another stepper does not know why the trees sleep, for example because it has other materials.
TEST_F(Waking, ByAnotherStepper) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  Stepper other(scene.model, make_options(ContactModel::sap));
  ASSERT_NO_FATAL_FAILURE(run(&other, &scene));
  EXPECT_EQ(scene.data->ntree_awake, scene->ntree);
}

}  // namespace
}  // namespace stiction::sim::waking_test
