// The memory of sleeping trees: checkpoints, failed steps and forward.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/sleep/sleeping.hpp"
#include "stiction/base/error.hpp"
#include "support/mjdata_fields.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::sleep_memory_test {
namespace {

using contact::ContactModel;
using support::Scene;

/// Two piles, and a ball that falls on one of them.
std::string make_piles() {
  return support::make_mjcf(kTimeStep, R"(<worldbody><geom type="plane" size="9 9 1"/>)" +
                                           make_box("low", 0, 0.1) + make_box("high", 0, 0.3) +
                                           make_box("far", 3, 0.1) + R"(
<body name="ball" pos="0.02 0 2"><freejoint/><geom size=".1" mass="1"/></body></worldbody>)");
}

class SleepMemory : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, SleepMemory, testing::ValuesIn(models_with_sleep()),
                         support::model_name);

/// Expects that two runs go on with the same bits, and with the same trees asleep.
void expect_same_run(Stepper* a, Scene* scene_a, Stepper* b, Scene* scene_b, int num_steps) {
  for (int i = 0; i < num_steps; ++i) {
    const StepReport& report = a->step(scene_a->data);
    const StepReport& other = b->step(scene_b->data);
    ASSERT_EQ(report.ok(), other.ok()) << report.message << other.message;
    if (!report.ok()) return;
    ASSERT_EQ(scene_a->state(), scene_b->state()) << i;
    ASSERT_EQ(report.statistics.num_asleep, other.statistics.num_asleep) << i;
    ASSERT_TRUE(std::equal(scene_a->data->tree_asleep,
                           scene_a->data->tree_asleep + scene_a->model->ntree,
                           scene_b->data->tree_asleep))
        << i;
  }
}

// At every moment: while trees count their steps, rest, sleep and wake.
TEST_P(SleepMemory, ACheckpointContinuesWithTheSameBits) {
  for (const int num_steps : {5, 60, 150, 250, 290}) {
    Scene scene(make_piles());
    allow_sleep(scene);
    Stepper stepper(scene.model, make_options(GetParam()));
    if (!stepper.step(scene.data, num_steps).ok()) return;
    Scene copy(scene);
    Stepper other(copy.model, make_options(GetParam()));
    other.set_state(stepper.get_state());
    EXPECT_EQ(other.get_state(), stepper.get_state());
    ASSERT_NO_FATAL_FAILURE(expect_same_run(&stepper, &scene, &other, &copy, 100)) << num_steps;
  }
}

TEST_P(SleepMemory, ForwardChangesNothing) {
  Scene scene(make_piles()), twin(make_piles());
  allow_sleep(scene);
  allow_sleep(twin);
  Stepper stepper(scene.model, make_options(GetParam()));
  Stepper other(twin.model, make_options(GetParam()));
  for (int i = 0; i < 400; ++i) {
    if (i > 0 && i % 7 == 0) {
      const std::vector<std::uint64_t> memory = stepper.get_state();
      const int asleep = scene.data->tree_asleep[0];
      ASSERT_TRUE(stepper.forward(scene.data).ok());
      EXPECT_EQ(stepper.get_state(), memory) << i;
      ASSERT_EQ(scene.data->tree_asleep[0], asleep) << i;
    }
    const StepReport& report = other.step(twin.data);
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    ASSERT_TRUE(report.ok()) << report.message;
    ASSERT_EQ(scene.state(), twin.state()) << i;
    ASSERT_EQ(scene.data->ntree_awake, twin.data->ntree_awake) << i;
  }
}

// A change that the caller makes, looks at with forward, and keeps.
TEST_P(SleepMemory, ForwardSeesAChangeThatWakes) {
  Scene scene(make_boxes()), twin(make_boxes());
  allow_sleep(scene);
  allow_sleep(twin);
  Stepper stepper(scene.model, make_options(GetParam()));
  Stepper other(twin.model, make_options(GetParam()));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&stepper, &scene));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&other, &twin));
  for (Scene* s : {&scene, &twin}) s->data->xfrc_applied[6 * s->body("high")] = 3;
  const StepReport& report = stepper.forward(scene.data);
  ASSERT_TRUE(report.ok()) << report.message;
  EXPECT_GT(report.contacts.size(), 0);
  EXPECT_TRUE(sleeps(scene, "high"));  // until the step
  ASSERT_NO_FATAL_FAILURE(expect_same_run(&stepper, &scene, &other, &twin, 50));
}

TEST_P(SleepMemory, AFailedStepChangesNothing) {
  Scene scene(make_piles()), twin(make_piles());
  allow_sleep(scene);
  allow_sleep(twin);
  StepOptions options = make_options(GetParam());
  options.on_failure = OnFailure::stop;
  Stepper stepper(scene.model, options), other(twin.model, options);
  for (int i = 0; i < 4; ++i) {
    if (!stepper.step(scene.data, 75).ok()) return;
    ASSERT_TRUE(other.step(twin.data, 75).ok());
    // The step wakes a pile, and fails because a position leaves its range.
    const std::vector<std::uint64_t> memory = stepper.get_state();
    const std::vector<mjtNum> state = scene.state();
    const std::vector<int> asleep(scene.data->tree_asleep, scene.data->tree_asleep + 4);
    scene.data->qpos[0] = 9.999e9;
    scene.data->qvel[0] = 9e9;
    EXPECT_FALSE(stepper.step(scene.data).ok());
    EXPECT_EQ(stepper.get_state(), memory);
    EXPECT_TRUE(std::equal(asleep.begin(), asleep.end(), scene.data->tree_asleep));
    scene.set_state(state);
    ASSERT_NO_FATAL_FAILURE(expect_same_run(&stepper, &scene, &other, &twin, 3));
  }
}

TEST(SleepState, WrongNumbersAreRefused) {
  Scene scene(make_boxes());
  allow_sleep(scene);
  Stepper stepper(scene.model, make_options(ContactModel::lagged));
  ASSERT_NO_FATAL_FAILURE(run_until_asleep(&stepper, &scene));
  const std::vector<std::uint64_t> state = stepper.get_state();
  for (std::size_t size = 0; size < state.size(); ++size)
    EXPECT_THROW(stepper.set_state(std::span(state).first(size)), Error) << size;
  EXPECT_EQ(stepper.get_state(), state);
  // Trees that do not form a cycle. The words of the trees are the last ones before those of
  // velocities, positions and the step.
  const auto first = std::find(state.begin() + 5, state.end(), 2u);  // low: its next tree is high
  ASSERT_NE(first, state.end());
  std::vector<std::uint64_t> broken = state;
  broken[first - state.begin()] = 3;
  EXPECT_THROW(stepper.set_state(broken), Error);
  EXPECT_EQ(stepper.get_state(), state);
}

/// Boxes and capsules of random sizes that fall on each other.
TEST(SleepMemoryOfRandomScenes, ACheckpointContinuesWithTheSameBits) {
  for (const int seed : {1, 2, 3}) {
    support::RandomSceneOptions options;
    options.num_bodies = 9;
    options.num_hinged = 2;
    Scene scene(support::make_random_scene(seed, options));
    allow_sleep(scene);
    scene->opt.sleep_tolerance = 0.05;  // trees fall asleep and wake all the time
    Stepper stepper(scene.model, make_options(ContactModel::lagged));
    std::mt19937_64 rng(seed);
    for (int i = 0; i < 10; ++i) {
      ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 20 + static_cast<int>(rng() % 50)));
      Scene copy(scene);
      Stepper other(copy.model, make_options(ContactModel::lagged));
      other.set_state(stepper.get_state());
      ASSERT_NO_FATAL_FAILURE(expect_same_run(&stepper, &scene, &other, &copy, 30)) << seed << i;
    }
  }
}

}  // namespace
}  // namespace stiction::sim::sleep_memory_test
