// No tree sleeps in the air: whatever carried it may leave at any moment, and by any cause.
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sim/sleep/sleeping.hpp"

namespace stiction::sim::lost_support_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// A door on a hinge that leans by a hair on a thin prop, and a ball. Without the prop, the door
/// falls so slowly at first that a few steps do not show it.
std::string make_door() {
  return support::make_mjcf(kTimeStep, R"(<worldbody><geom type="plane" size="9 9 .1"/>
<body name="door" pos="0 0 .01"><joint name="h" axis="0 1 0"/>
  <geom name="door" type="box" pos="0 0 .5" size=".02 .01 .48" mass="1"/></body>
<body name="prop" pos=".1215 0 .1"><freejoint/><geom type="box" size=".1 .02 .1" mass="1"/></body>
<body name="ball" pos="0 -3 .1"><freejoint/><geom size=".08" mass="3"/></body></worldbody>)");
}

/// A box on a floor, and one on a mocap body.
std::string make_table(const std::string& options) {
  return support::make_mjcf(options, R"(<worldbody><geom name="floor" type="plane" size="9 9 .1"/>
<body name="table" mocap="true" pos="2 0 .1"><geom type="box" size=".2 .2 .1"/></body>)" +
                                         make_box("low", 0, 0.1) + make_box("high", 2, 0.3) +
                                         "</worldbody>");
}

class LostSupport : public testing::TestWithParam<std::tuple<ContactModel, int>> {
 protected:
  ContactModel model() const { return std::get<0>(GetParam()); }
  /// The count of MuJoCo at which the support leaves: -11 is awake, -2 the last one, 0 asleep.
  int moment() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Moments, LostSupport,
                         testing::Combine(testing::Values(ContactModel::coulomb,
                                                          ContactModel::lagged,
                                                          ContactModel::no_slip),
                                          testing::Values(-10, -8, -6, -5, -4, -3, -2, 0)),
                         [](const auto& info) {
                           return std::string(contact::traits(std::get<0>(info.param)).name) + "_" +
                                  std::to_string(-std::get<1>(info.param));
                         });

/// Steps until the count of a tree is `moment`, or until it sleeps if that is 0.
void run_until(Stepper* stepper, Scene* scene, const char* body, int moment) {
  const int tree = tree_of(*scene, body);
  const auto is_reached = [&] {
    const int count = scene->data->tree_asleep[tree];
    return moment == 0 ? count >= 0 : count == moment;
  };
  for (int i = 0; i < 4000 && !is_reached(); ++i) ASSERT_NO_FATAL_FAILURE(run(stepper, scene));
  ASSERT_TRUE(is_reached());
}

TEST_P(LostSupport, ByTheCallerLetsADoorFall) {
  Scene scene(make_door());
  allow_sleep(scene);
  scene.data->qpos[0] = 5e-4;
  Stepper stepper(scene.model, make_options(model()));
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 50));  // until they have met
  ASSERT_NO_FATAL_FAILURE(run_until(&stepper, &scene, "door", moment()));
  scene.data->qpos[2] += 1;
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 1500));
  EXPECT_GT(scene.data->qpos[0], 1) << "the door still stands";
}

TEST(LostSupportOfASleepingDoor, ByABodyThatHitsItLetsTheDoorFall) {
  for (const ContactModel model : {ContactModel::coulomb, ContactModel::lagged}) {
    for (const double x : {.1205, .121, .1215}) {
      Scene scene(make_door());
      allow_sleep(scene);
      const int door = scene.geom("door");  // without friction
      scene->geom_priority[door] = 1;
      scene->geom_friction[3 * door] = 0;
      scene.data->qpos[0] = 5e-4;
      scene.data->qpos[1] = x;
      Stepper stepper(scene.model, make_options(model));
      ASSERT_NO_FATAL_FAILURE(run_until(&stepper, &scene, "door", 0));
      const mjtNum ball[] = {scene.data->qpos[1], -.6, .12};
      std::copy_n(ball, 3, scene.data->qpos + 8);
      scene.data->qvel[8] = 8;
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 1500));
      EXPECT_GT(scene.data->qpos[0], 1) << "the door still stands, x = " << x;
    }
  }
}

/// A change of what carries boxes that a run makes after it has read a checkpoint.
struct Change {
  const char* name;
  std::function<void(Scene*)> make;
};
std::vector<Change> make_changes() {
  return {
      {"FloorLeaves",
       [](Scene* s) {
         s->model->geom_pos[2] = -1;
         s->model->geom_sameframe[0] = mjSAMEFRAME_NONE;  // or MuJoCo does not read geom_pos
       }},
      {"GravityTurns", [](Scene* s) { s->model->opt.gravity[2] = 9.81; }},
      {"TableLeaves", [](Scene* s) { s->data->mocap_pos[2] = -1; }},
  };
}

TEST_P(LostSupport, AfterACheckpointLetsBoxesFall) {
  // A velocity of gravity in one step is below the tolerance in both.
  for (const char* options : {R"(timestep="5e-5")", R"(timestep="0.002" sleep_tolerance="0.02")"}) {
    Scene scene(make_table(options));
    allow_sleep(scene);
    Stepper stepper(scene.model, make_options(model()));
    ASSERT_NO_FATAL_FAILURE(run_until(&stepper, &scene, "high", moment()));
    for (const Change& change : make_changes()) {
      Scene copy(scene);
      Stepper other(copy.model, make_options(model()));
      other.set_state(stepper.get_state());
      change.make(&copy);
      ASSERT_NO_FATAL_FAILURE(run(&other, &copy, 100));
      const bool moves_low = std::string(change.name) != "TableLeaves";
      const bool moves_high = std::string(change.name) != "FloorLeaves";
      EXPECT_EQ(std::abs(copy.data->qvel[2]) > 0.01, moves_low) << change.name << options;
      EXPECT_EQ(std::abs(copy.data->qvel[8]) > 0.01, moves_high) << change.name << options;
    }
  }
}

}  // namespace
}  // namespace stiction::sim::lost_support_test
