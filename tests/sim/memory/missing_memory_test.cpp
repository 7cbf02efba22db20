// The report of a step that does not go on where the last one ended says which memory it lacked,
// and its result does not depend on steps of other states.
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/integrator_cases.hpp"
#include "sim/memory/anchor_scenes.hpp"
#include "stiction/sim/step/step_memories.hpp"
#include "support/random_scene.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::missing_memory_test {
namespace {

using support::has_same_bits;
using support::Scene;

class MissingMemory : public testing::TestWithParam<IntegratorCase> {
 protected:
  Stepper make_stepper(const Scene& scene) const {
    return Stepper(scene.model, make_options_of(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Cases, MissingMemory, testing::ValuesIn(make_integrator_cases()),
                         name_case);

/// @param spacing below 0.21 bodies may overlap at the start [m]
std::string make_heap(int seed, double spacing = 0.21) {
  support::RandomSceneOptions options;
  options.num_bodies = 7;
  options.num_hinged = 0;
  options.spacing = spacing;
  return support::make_random_scene(seed, options);
}

/// This is the promise of docs/step.md: a checkpoint without get_state either goes on with the same
/// bits, or the report of its first step names the memory that was missing.
TEST_P(MissingMemory, IsNamedIfARestoredStateGoesOnWithOtherBits) {
  int num_named = 0;
  for (const int seed : {1, 2, 3}) {
    const std::string xml = make_heap(seed);
    Scene scene(xml);
    Stepper stepper = make_stepper(scene);
    for (int k = 0; k < 8; ++k) {
      if (!stepper.step(scene.data, 5).ok()) break;
      Scene copy(xml);
      copy.set_state(scene.state());
      Stepper other = make_stepper(copy);
      const std::uint32_t missing = other.step(copy.data).missing_memory;
      num_named += (missing & ~kWarnings) != 0;  // warnings do not change the motion
      const StepReport& report = stepper.step(scene.data);
      EXPECT_EQ(report.missing_memory, 0);
      if (!report.ok()) break;
      if ((missing & ~kWarnings) == 0) {
        EXPECT_TRUE(has_same_bits(scene.state(), copy.state())) << seed << " " << k;
      }
    }
  }
  const contact::ContactModelTraits& model = contact::traits(GetParam().model);
  if (model.lags_friction) {
    EXPECT_GT(num_named, 0);
  }
  if (GetParam().model == contact::ContactModel::no_slip) {
    EXPECT_GT(num_named, 0);
  }
}

/// Compliant models that do not lag friction remember overlaps of the start, and nothing else here.
TEST_P(MissingMemory, IsNoneWhereNothingOverlapsAtTheStart) {
  const contact::ContactModelTraits& model = contact::traits(GetParam().model);
  if (model.is_rigid || model.lags_friction) return;
  const std::string xml = make_heap(1, 0.3);
  Scene scene(xml);
  Stepper stepper = make_stepper(scene);
  for (int k = 0; k < 8; ++k) {
    ASSERT_TRUE(stepper.step(scene.data, 20).ok());
    Scene copy(xml);
    copy.set_state(scene.state());
    Stepper other = make_stepper(copy);
    EXPECT_EQ(other.step(copy.data).missing_memory & ~kWarnings, 0) << k;
  }
}

TEST_P(MissingMemory, StatesWithoutAStepBeforeLackNone) {
  Scene scene(make_heap(1));
  Stepper stepper = make_stepper(scene);
  EXPECT_EQ(stepper.step(scene.data, 10).missing_memory, 0);
  mj_resetData(scene.model, scene.data);
  EXPECT_EQ(stepper.step(scene.data, 10).missing_memory, 0);
  // The caller may move bodies between steps.
  scene.data->qvel[0] += 0.1;
  EXPECT_EQ(stepper.step(scene.data).missing_memory, 0);
}

TEST_P(MissingMemory, CheckpointsWithMemoryLackNone) {
  const std::string xml = make_heap(2);
  Scene scene(xml), copy(xml);
  Stepper stepper = make_stepper(scene), other = make_stepper(copy);
  if (!stepper.step(scene.data, 20).ok()) return;
  copy.set_state(scene.state());
  other.set_state(stepper.get_state());
  EXPECT_EQ(other.step(copy.data, 3).missing_memory, 0);
}

/// A run after a reset, and a state that is restored twice, have the bits of a new stepper.
TEST_P(MissingMemory, OtherStatesLeaveNoTrace) {
  const std::string xml = make_heap(3);
  Scene scene(xml), fresh(xml);
  Stepper stepper = make_stepper(scene), first = make_stepper(fresh);
  if (!stepper.step(scene.data, 30).ok()) return;
  mj_resetData(scene.model, scene.data);
  for (int i = 0; i < 30; ++i) {
    const bool is_ok = stepper.step(scene.data).ok();
    ASSERT_EQ(first.step(fresh.data).ok(), is_ok);
    ASSERT_TRUE(has_same_bits(scene.state(), fresh.state())) << i;
  }
  const std::vector<mjtNum> middle = scene.state();
  std::vector<mjtNum> ends[2];
  for (std::vector<mjtNum>& end : ends) {
    scene.set_state(middle);
    scene.data->time += 1;  // no step ended here
    (void)stepper.step(scene.data, 5);
    end = scene.state();
  }
  EXPECT_TRUE(has_same_bits(ends[0], ends[1]));
}

/// What the caller moves begins anew, and everything else goes on: a heap does not notice that a
/// body beside it is carried about.
void expect_that_only_what_is_moved_begins_anew(const StepOptions& options) {
  std::string xml = make_heap(3);
  const std::string beside =
      R"(<body name="beside" pos="5 5 0.09"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>)";
  xml.insert(xml.rfind("</worldbody>"), beside);
  Scene scene(xml), other(xml);
  Stepper stepper(scene.model, options), carrying(other.model, options);
  const int first = scene.model->jnt_qposadr[scene.model->njnt - 1];
  for (int k = 0; k < 60; ++k) {
    if (k % 3 == 2) other.data->qpos[first] += 0.05;
    const bool is_ok = stepper.step(scene.data).ok();
    ASSERT_EQ(carrying.step(other.data).ok(), is_ok);
    if (!is_ok) return;
    ASSERT_TRUE(std::equal(scene.data->qpos, scene.data->qpos + first, other.data->qpos)) << k;
  }
}

TEST_P(MissingMemory, OnlyWhatTheCallerMovesBeginsAnew) {
  expect_that_only_what_is_moved_begins_anew(make_options_of(GetParam()));
}

TEST(MissingMemory, SpringsOfWhatTheCallerDoesNotMoveAreKept) {
  expect_that_only_what_is_moved_begins_anew(make_elastic(contact::ContactModel::lagged));
  expect_that_only_what_is_moved_begins_anew(make_elastic());
}

/// Points on a part of a shape that the caller has taken away do not hold what lay there.
TEST(MissingMemory, AChangedShapeFindsNoPointsOfTheLastStep) {
  struct Case {
    std::string support;
    void (*change)(mjModel*);
  };
  const std::string box =
      R"(<body pos="0.06 0 0.0498"><freejoint/><geom type="box" size="0.05 0.05 0.05"/></body></worldbody>)";
  for (const Case& c : {
           Case{R"(<worldbody><geom type="box" size="0.2 0.2 0.1" pos="0 0 -0.1"/>)",
                [](mjModel* m) { m->geom_size[0] = 0.02; }},
           Case{R"(<asset><hfield name="h" nrow="5" ncol="5" size="1 1 0.1 0.1" elevation=")" +
                    std::string("1 1 1 1 1 1 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1") +
                    R"("/></asset><worldbody><geom type="hfield" hfield="h" pos="0 0 -0.1"/>)",
                [](mjModel* m) { std::fill_n(m->hfield_data, 25, 0.0F); }},
       }) {
    Scene scene(support::make_mjcf(R"(timestep="0.002")", c.support + box));
    Stepper stepper(scene.model, make_elastic());
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 100));
    c.change(scene.model);
    Scene copy(scene);
    copy.set_state(scene.state());
    Stepper other(copy.model, make_elastic());
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 60));
    ASSERT_NO_FATAL_FAILURE(run(&other, &copy, 60));
    EXPECT_LT(copy.data->qpos[2], 0.04) << c.support;
    EXPECT_NEAR(scene.data->qpos[2], copy.data->qpos[2], 1e-3) << c.support;
  }
}

/// Steps three data in turn by one stepper, and each by a stepper of its own.
void expect_that_data_take_turns(const StepOptions& options) {
  const std::string xml = make_heap(3);
  std::deque<Scene> shared, own;
  std::vector<Stepper> steppers;
  for (int i = 0; i < 3; ++i) {
    for (auto* scenes : {&shared, &own}) {
      scenes->emplace_back(xml);
      scenes->back().data->qvel[0] = 0.1 * i;
    }
    steppers.emplace_back(own[i].model, options);
  }
  // The models of the scenes are equal, so that one stepper can step them all.
  Stepper stepper(shared[0].model, options);
  for (int k = 0; k < 20; ++k) {
    for (int i = 0; i < 3; ++i) {
      const StepReport& report = stepper.step(shared[i].data, 1 + k % 2);
      ASSERT_EQ(report.ok(), steppers[i].step(own[i].data, 1 + k % 2).ok());
      EXPECT_EQ(report.missing_memory, 0) << k;
      ASSERT_TRUE(has_same_bits(shared[i].state(), own[i].state())) << k << " " << i;
      if (k % 5 == 4) (void)stepper.forward(shared[0].data);
    }
  }
  // A copy of the last state goes on with its memory, and so does the original afterwards.
  shared[1].set_state(shared[2].state());
  EXPECT_EQ(stepper.step(shared[1].data, 3).missing_memory & ~kWarnings, 0);
  EXPECT_EQ(stepper.step(shared[2].data, 3).missing_memory, 0);
  EXPECT_TRUE(has_same_bits(shared[1].state(), shared[2].state()));
  // So do further copies, although the stepper has stepped the others since.
  const std::vector<mjtNum> middle = shared[2].state();
  for (Scene* scene : {&shared[0], &shared[1], &own[0]}) {
    scene->set_state(middle);
    EXPECT_EQ(stepper.step(scene->data, 3).missing_memory & ~kWarnings, 0);
    EXPECT_TRUE(has_same_bits(scene->state(), shared[0].state()));
  }
  // Data without a step find the memory of a new stepper.
  own[1].data->time = 9;
  stepper.turn_to(own[1].data);
  EXPECT_EQ(stepper.get_state(), Stepper(own[1].model, options).get_state());
}

TEST_P(MissingMemory, DataInTurnAreSteppedAsByAStepperEach) {
  expect_that_data_take_turns(make_options_of(GetParam()));
}

TEST(MissingMemory, SpringsOfDataInTurnAreKept) {
  StepOptions options;
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  for (const auto model : {contact::ContactModel::coulomb, contact::ContactModel::lagged}) {
    options.contact_model = model;
    expect_that_data_take_turns(options);
  }
}

TEST(MissingMemory, IsThatOfTheDataWhichWasSteppedLongestAgoIfThereAreTooMany) {
  constexpr int kNumData = StepMemories::kMaxParked + 2;  // one of them is not parked
  std::deque<Scene> scenes;
  for (int i = 0; i < kNumData; ++i) {
    scenes.push_back(make_incline(0.9, 2e-3));
    scenes.back().data->qpos[0] = 0.01 * i;  // not a copy of another
  }
  Stepper stepper(scenes[0].model, make_elastic());
  for (Scene& scene : scenes) run(&stepper, &scene, 100);
  EXPECT_EQ(stepper.step(scenes[1].data).missing_memory, 0);
  EXPECT_TRUE(stepper.step(scenes[0].data).missing_memory & kAnchors);
  EXPECT_EQ(stepper.step(scenes[3].data).missing_memory, 0);
}

TEST_P(MissingMemory, ForwardOfAnotherStateKeepsTheMemory) {
  const std::string xml = make_heap(1);
  Scene scene(xml), other(xml);
  Stepper stepper = make_stepper(scene);
  if (!stepper.step(scene.data, 20).ok()) return;
  const std::vector<std::uint64_t> memory = stepper.get_state();
  other.data->time = 5;
  (void)stepper.forward(other.data);
  if (contact::traits(GetParam().model).is_rigid) {
    // Warnings and mocap poses are those of the other data, but no guess is lost.
    EXPECT_EQ(stepper.get_state(), memory);
  }
  EXPECT_EQ(stepper.step(scene.data).missing_memory, 0);
}

TEST(MissingMemory, NamesEachKind) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom type="plane" size="2 2 1"/><body mocap="true" pos="1 0 1"><geom size="0.1"/></body>
<body pos="0 0 0.05"><freejoint/><geom size="0.05" mass="1"/></body></worldbody>)"));
  plant::Material soft = plant::kDefaultMaterial;
  soft.hydroelastic_modulus = 1e5;
  soft.slab_thickness = 0.1;
  const plant::MaterialTable materials = make_materials(scene, soft);
  Stepper stepper(scene.model, make_options(contact::ContactModel::coulomb), materials);
  ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene, 50));
  Stepper other(scene.model, make_options(contact::ContactModel::coulomb), materials);
  const StepReport& report = other.step(scene.data);
  EXPECT_EQ(list_memory(report.missing_memory),
            (std::vector<std::string>{"patch_history", "mocap_motion"}));
  EXPECT_EQ(list_memory(kActiveSet | kPatchHistory | kMocapMotion | kWarnings).size(), 4);
}

}  // namespace
}  // namespace stiction::sim::missing_memory_test
