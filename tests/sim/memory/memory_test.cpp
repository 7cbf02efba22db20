// The memory of a stepper between steps. MuJoCo's state together with the stepper's continues a
// run with the same bits.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/integrators/integrator_cases.hpp"
#include "stiction/base/error.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::memory_test {
namespace {

using contact::ContactModel;
using support::Scene;

class Memory : public testing::TestWithParam<IntegratorCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, Memory, testing::ValuesIn(make_integrator_cases()), name_case);

/// Returns all numbers that a step leaves for its user.
std::vector<mjtNum> read_result(const Scene& scene, const StepReport& report) {
  std::vector<mjtNum> all = scene.state();
  const ContactReport& contacts = report.contacts;
  all.insert(all.end(), contacts.impulse.begin(), contacts.impulse.end());
  all.insert(all.end(), contacts.slip_velocity.begin(), contacts.slip_velocity.end());
  all.push_back(report.certificate.relative_residual);
  all.push_back(report.statistics.iterations);
  all.push_back(report.num_warnings);
  return all;
}

/// Runs a scene, and a copy that starts from a checkpoint after some steps, and compares each step.
/// @param make_stepper makes a stepper of a scene
template <class MakeStepper>
void test_checkpoint(const std::string& xml, int num_steps, const MakeStepper& make_stepper) {
  constexpr int kFewSteps = 10;  // a model may fail in the scene, but not before these
  int num_compared = 0;
  Scene scene(xml);
  Stepper stepper = make_stepper(scene);
  for (int checkpoint = 0; checkpoint < 3; ++checkpoint) {
    const StepReport& begun = stepper.step(scene.data, num_steps);
    if (!begun.ok()) {
      ASSERT_GE(num_compared, kFewSteps) << begun.message;
      return;
    }
    const std::vector<std::uint64_t> memory = stepper.get_state();
    Scene copy(xml);
    copy.set_state(scene.state());
    Stepper other = make_stepper(copy);
    other.set_state(memory);
    for (int step = 0; step < num_steps; ++step) {
      const StepReport& report = stepper.step(scene.data);
      const std::vector<mjtNum> result = read_result(scene, report);
      const std::vector<mjtNum> again = read_result(copy, other.step(copy.data));
      ASSERT_EQ(result.size(), again.size()) << "step " << step << " after " << checkpoint;
      ASSERT_EQ(std::memcmp(result.data(), again.data(), result.size() * sizeof(mjtNum)), 0)
          << "step " << step << " after " << checkpoint;
      if (!report.ok()) {
        ASSERT_GE(num_compared, kFewSteps) << report.message;
        return;
      }
      ++num_compared;
    }
  }
}

TEST_P(Memory, ACheckpointContinuesWithTheSameBits) {
  for (const int seed : {1, 2, 3}) {
    support::RandomSceneOptions scene;
    scene.num_bodies = 7;
    // The hinges have dry friction, which rk4 does not take.
    scene.num_hinged = GetParam().integrator == Integrator::rk4 ? 0 : 2;
    scene.spacing = seed == 3 ? 0.15 : 0.21;  // some overlap at the start
    test_checkpoint(support::make_random_scene(seed, scene), 25,
                    [](const Scene& s) { return Stepper(s.model, make_options_of(GetParam())); });
  }
}

TEST_P(Memory, ACheckpointOfPatchesContinuesWithTheSameBits) {
  if (!contact::traits(GetParam().model).takes_patches) GTEST_SKIP();
  const std::string xml = support::make_mjcf(R"(timestep="0.005")", R"(
    <worldbody>
      <geom type="box" size="1 1 0.1" pos="0 0 -0.1"/>
      <body pos="0 0 0.14"><freejoint/><geom size="0.1"/></body>
      <body pos="0.05 0 0.35"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
    </worldbody>)");
  test_checkpoint(xml, 30, [](const Scene& s) {
    plant::Material soft = plant::kDefaultMaterial;
    soft.hydroelastic_modulus = 1e4;  // so soft that patches pass medial axes
    return Stepper(s.model, make_options_of(GetParam()), make_materials(s, soft));
  });
}

// A step that fails leaves no trace in the memory either.
TEST_P(Memory, AFailedStepKeepsTheMemory) {
  support::RandomSceneOptions options;
  options.num_bodies = 5;
  Scene scene(support::make_random_scene(4, options));
  Stepper stepper(scene.model, make_options_of(GetParam()));
  if (!stepper.step(scene.data, 10).ok()) return;
  const std::vector<std::uint64_t> memory = stepper.get_state();
  scene.data->qfrc_applied[0] = 1e200;
  EXPECT_FALSE(stepper.step(scene.data).ok());
  EXPECT_EQ(stepper.get_state(), memory);
}

/// Makes a scene in which a mocap body moves, and another sinks deep into a plate.
Scene make_scene_with_all_memories() {
  return Scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom type="box" size="1 1 0.01" pos="0 0 -0.01"/>
<body mocap="true" pos="5 0 0"><geom size="0.1"/></body>
<body pos="0 0 0.08"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody>)"));
}

// A state that is cut off, or has a wrong number, is refused as a whole.
TEST_P(Memory, ARefusedStateChangesNothing) {
  if (contact::traits(GetParam().model).is_mj_step) GTEST_SKIP() << "remembers nothing";
  Scene scene = make_scene_with_all_memories();
  Stepper stepper(scene.model, make_options_of(GetParam()));
  std::vector<std::vector<std::uint64_t>> states;
  for (int i = 0; i < 6; ++i) {
    scene.data->mocap_pos[0] += 1e-3;
    ASSERT_NO_FATAL_FAILURE(run(&stepper, &scene));
    states.push_back(stepper.get_state());
  }
  ASSERT_NE(states[2], states[5]);
  const auto expect_refused = [&](std::span<const std::uint64_t> damaged) {
    ASSERT_THROW(stepper.set_state(damaged), Error) << damaged.size();
    ASSERT_EQ(stepper.get_state(), states[5]) << damaged.size();
  };
  for (std::size_t size = 0; size < states[2].size(); ++size)
    expect_refused(std::span(states[2]).first(size));
  std::vector<std::uint64_t> longer = states[2];
  longer.push_back(0);
  expect_refused(longer);
  EXPECT_NO_THROW(stepper.set_state(states[2]));
  EXPECT_EQ(stepper.get_state(), states[2]);
}

TEST(SetState, AnotherModelsStateIsRefused) {
  support::RandomSceneOptions options;
  options.num_bodies = 3;
  Scene scene(support::make_random_scene(1, options));
  options.num_bodies = 4;
  Scene other(support::make_random_scene(1, options));
  Stepper stepper(scene.model, make_options(ContactModel::no_slip));
  (void)stepper.step(scene.data, 3);
  std::vector<std::uint64_t> state = stepper.get_state();
  EXPECT_NO_THROW(stepper.set_state(state));
  EXPECT_THROW(Stepper(other.model, make_options(ContactModel::no_slip)).set_state(state), Error);
  EXPECT_THROW(Stepper(scene.model, make_options(ContactModel::viscous)).set_state(state), Error);
  EXPECT_THROW(stepper.set_state({}), Error);
  for (std::size_t size = 0; size < state.size(); ++size)
    EXPECT_THROW(stepper.set_state(std::span(state).first(size)), Error) << size;
  state.push_back(0);
  EXPECT_THROW(stepper.set_state(state), Error);
}

}  // namespace
}  // namespace stiction::sim::memory_test
