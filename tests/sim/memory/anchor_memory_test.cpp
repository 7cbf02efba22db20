// The memory of the friction law `elastic`: anchors are remembered, saved, forgotten and asleep.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/memory/anchors.hpp"
#include "support/error_message.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::anchor_memory_test {
namespace {

using contact::ContactModel;
using support::has_same_bits;
using support::message_of;
using support::Scene;

TEST(AnchorMemory, ACheckpointContinuesWithTheSameBits) {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene(make_pile(2e-3));
    Stepper stepper(scene.model, make_elastic(model));
    for (int checkpoint = 0; checkpoint < 4; ++checkpoint) {
      run(&stepper, &scene, 100);
      Scene copy(scene);
      copy.set_state(scene.state());
      Stepper other(copy.model, make_elastic(model));
      other.set_state(stepper.get_state());
      for (int i = 0; i < 20; ++i) {
        run(&stepper, &scene);
        run(&other, &copy);
        ASSERT_TRUE(has_same_bits(scene.state(), copy.state())) << checkpoint << " " << i;
      }
    }
  }
}

TEST(AnchorMemory, ThreadsDoNotChangeTheBits) {
  Scene one(make_pile(2e-3)), many(make_pile(2e-3));
  StepOptions options = make_elastic();
  Stepper alone(one.model, options);
  options.num_threads = 4;
  Stepper together(many.model, options);
  run(&alone, &one, 400);
  run(&together, &many, 400);
  EXPECT_TRUE(has_same_bits(one.state(), many.state()));
}

TEST(AnchorMemory, SavedAnchorsHoldTheStateAtWhichTheyWereSaved) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  const std::vector<std::uint64_t> anchors = stepper.save_anchors();
  const std::vector<mjtNum> state = scene.state();
  const double stretch = stepper.step(scene.data).anchors.largest_stretch;
  EXPECT_GT(stretch, 0);

  // Another stepper that goes on from the state without anchors lets the block slip, and says so.
  scene.set_state(state);
  Stepper other(scene.model, make_elastic());
  run(&other, &scene, 3);
  const double slipped = scene.data->qpos[0];
  scene.set_state(state);
  other.load_anchors(scene.data, anchors);
  const StepReport& report = other.step(scene.data);
  EXPECT_EQ(report.anchors.num_forgotten, 0);
  EXPECT_FALSE(report.missing_memory & kAnchors);
  EXPECT_NEAR(report.anchors.largest_stretch, stretch, 1e-3 * stretch);
  run(&other, &scene, 2);
  EXPECT_GT(slipped - scene.data->qpos[0], 0.1 * stretch);
}

TEST(AnchorMemory, AnotherStateFindsNoAnchors) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  EXPECT_EQ(stepper.step(scene.data).anchors.num_forgotten, 0);
  scene.data->qpos[0] += 0.3;
  const StepReport& moved = stepper.step(scene.data);
  EXPECT_EQ(moved.anchors.num_forgotten, 4);
  EXPECT_TRUE(moved.missing_memory & kAnchors);
  EXPECT_EQ(stepper.step(scene.data).anchors.num_forgotten, 0);
}

TEST(AnchorMemory, ForgottenAnchorsBeginAgain) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  const double stretch = stepper.step(scene.data).anchors.largest_stretch;
  const double x = scene.data->qpos[0];
  stepper.forget_anchors();
  run(&stepper, &scene, 500);
  // The block yields once by about the deflection of its springs.
  EXPECT_GT(scene.data->qpos[0] - x, 0.3 * stretch);
  EXPECT_LT(scene.data->qpos[0] - x, 3 * stretch);
  EXPECT_LE(std::abs(measure_speed(&stepper, &scene, 0, 1)), 1e-10);
}

TEST(AnchorMemory, AFailedStepAndForwardLeaveItAsItWas) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 500);
  expect_kept_by_forward_and_failure(&stepper, &scene);
}

TEST(AnchorMemory, NoAnchorsAreLoadedForEveryState) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  const std::vector<std::uint64_t> fresh = stepper.save_anchors();
  run(&stepper, &scene, 500);
  stepper.forget_anchors();
  for (const std::vector<std::uint64_t>& none : {fresh, stepper.save_anchors()}) {
    Stepper other(scene.model, make_elastic());
    other.load_anchors(scene.data, none);
    EXPECT_TRUE(other.list_anchors().empty());
    EXPECT_EQ(other.step(scene.data).anchors.num_forgotten, 0);
  }
}

TEST(AnchorMemory, NegativeNumbersAreRefused) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 10);
  const std::vector<std::uint64_t> anchors = stepper.save_anchors();
  // The stiffness and the area of the last point stand before its feature and its flags.
  for (const std::size_t at : {anchors.size() - 4, anchors.size() - 3}) {
    std::vector<std::uint64_t> altered = anchors;
    EXPECT_GT(std::bit_cast<double>(altered[at]), 0);
    altered[at] ^= std::uint64_t{1} << 63;
    EXPECT_NE(message_of([&] { stepper.load_anchors(scene.data, altered); }).find("wrong numbers"),
              std::string::npos);
  }
}

TEST(AnchorMemory, WrongAnchorsAreRefused) {
  Scene scene = make_incline(0.9, 2e-3);
  Stepper stepper(scene.model, make_elastic()),
      soft(scene.model, make_options(ContactModel::lagged));
  run(&stepper, &scene, 10);
  std::vector<std::uint64_t> anchors = stepper.save_anchors();
  EXPECT_NE(message_of([&] { (void)soft.save_anchors(); }).find("'elastic'"), std::string::npos);
  EXPECT_NE(message_of([&] { soft.forget_anchors(); }).find("'elastic'"), std::string::npos);
  EXPECT_NE(message_of([&] { soft.set_state(stepper.get_state()); }), "");
  EXPECT_NE(message_of([&] { stepper.set_state(soft.get_state()); }), "");
  scene.data->time += 1;
  EXPECT_NE(message_of([&] { stepper.load_anchors(scene.data, anchors); }).find("another time"),
            std::string::npos);
  anchors.pop_back();
  EXPECT_NE(message_of([&] { stepper.load_anchors(scene.data, anchors); }), "");
  for (const ContactModel model :
       {ContactModel::sap, ContactModel::similar, ContactModel::tamsi, ContactModel::no_slip}) {
    const std::string text = message_of([&] { Stepper refused(scene.model, make_elastic(model)); });
    EXPECT_NE(text.find("friction_law: is 'elastic'"), std::string::npos) << text;
    EXPECT_NE(text.find("lagged, lagged_regularized, coulomb"), std::string::npos) << text;
  }
}

TEST(AnchorMemory, FeaturesNameTheElementsOfAFace) {
  const std::uint64_t first = make_feature(12, 3456), second = next_feature(first);
  EXPECT_EQ(find_elements(first), (std::array{12, 3456}));
  EXPECT_EQ(find_elements(second), (std::array{12, 3456}));
  EXPECT_TRUE(is_same_face(first, second));
  EXPECT_FALSE(is_same_face(first, make_feature(12, 3457)));
  EXPECT_EQ(find_elements(make_feature(-1, 7)), (std::array{-1, 7}));
  EXPECT_EQ(find_elements(0), (std::array{-1, -1}));  // a contact point
}

TEST(AnchorMemory, BodiesThatSleepKeepTheirAnchors) {
  Scene scene = make_incline(0.9, 2e-3);
  scene->opt.enableflags |= mjENBL_SLEEP;
  Stepper stepper(scene.model, make_elastic());
  double x = 0;
  int num_asleep = 0;
  for (int i = 0; i < 3000 && num_asleep == 0; ++i) {
    num_asleep = stepper.step(scene.data).statistics.num_asleep;
    x = scene.data->qpos[0];
  }
  ASSERT_EQ(num_asleep, 1);
  // Springs that sleep count as all others do.
  double energy = 0, stretch = 0;
  for (const AnchorReport& anchor : stepper.list_anchors()) {
    energy += 0.5 * anchor.stiffness * dot(anchor.stretch, anchor.stretch);
    stretch = std::max(stretch, norm(anchor.stretch));
  }
  const AnchorSummary asleep = stepper.step(scene.data).anchors;
  EXPECT_NEAR(asleep.energy, energy, 1e-12 * energy);
  EXPECT_EQ(asleep.largest_stretch, stretch);
  run(&stepper, &scene, 50);
  scene.data->xfrc_applied[6 + 2] = 1e-3;  // wakes the block
  const StepReport& report = stepper.step(scene.data);
  EXPECT_EQ(report.statistics.num_asleep, 0);
  EXPECT_EQ(report.anchors.num_forgotten, 0);
  scene.data->xfrc_applied[6 + 2] = 0;
  run(&stepper, &scene, 20);
  EXPECT_NEAR(scene.data->qpos[0], x, 1e-9);  // without anchors it would yield by 1e-7
}

TEST(AnchorMemory, ManyPairsThatSleepCostLittle) {
  // A search through all pairs for each pair that sleeps took 0.6 s for these steps.
  constexpr int kNumPairs = 20000, kNumSteps = 3;
  AnchorMemory memory;
  for (int i = 0; i < kNumPairs; ++i) {
    memory.step.pairs.push_back({.geoms = {0, 1}, .first_point = i, .num_points = 1});
    memory.step.points.emplace_back();
  }
  Scene scene = make_incline(0.9, 2e-3);
  const StepEnd end{.positions = hash_positions(scene.model, scene.data)};
  KeptTrees kept(scene.model);
  memory.end = end.positions;
  Anchors anchors(scene.model);
  const plant::MaterialTable materials = plant::make_default_materials(scene.model);
  const std::clock_t start = std::clock();
  for (int i = 0; i < kNumSteps; ++i) {
    anchors.set_memory(memory);
    anchors.begin(StepStart::compare(scene.model, scene.data, end, &kept));
    contact::ContactProblem problem;
    anchors.carry_to(scene.model, scene.data, materials, {}, {}, scene.model->opt.timestep,
                     &problem);
    (void)anchors.record(problem, {});
    anchors.keep([](int, int) { return true; });
    anchors.end(end);
    EXPECT_EQ(anchors.memory().step.pairs.size(), kNumPairs);
  }
  EXPECT_LE(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.2);
}

}  // namespace
}  // namespace stiction::sim::anchor_memory_test
