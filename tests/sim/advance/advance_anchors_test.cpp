// The friction law `elastic` under error control: nothing that is held drifts, and the anchors
// belong to the steps that were accepted.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/advance/advance_scenes.hpp"
#include "sim/memory/anchor_scenes.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::advance_anchors_test {
namespace {

using contact::ContactModel;
using support::has_same_bits;
using support::Scene;

class AdvanceAnchors : public testing::TestWithParam<ContactModel> {
 protected:
  static StepOptions options() { return make_elastic(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Models, AdvanceAnchors, testing::ValuesIn(support::models_with_anchors()),
                         model_name);

/// Returns how fast the plate of make_wrist moves in the frame of the wrist [m/s].
double measure_plate_drift(const StepOptions& options, double accuracy, bool extrapolate) {
  constexpr double kPeriod = 0.01, kSettle = 0.6, kDuration = 0.5;
  Scene scene(make_wrist(2e-3));
  Stepper stepper(scene.model, options);
  const auto turn = [&](double time) {
    const double start = scene.data->time;
    const int num_calls = static_cast<int>(std::lround(time / kPeriod));
    for (int k = 1; k <= num_calls; ++k) {
      drive_wrist(&scene);
      const StepReport& report = stepper.advance(
          scene.data,
          {.until = start + k * kPeriod, .accuracy = accuracy, .extrapolate = extrapolate});
      ASSERT_TRUE(report.ok()) << report.message;
    }
  };
  turn(kSettle);
  const std::array<mjtNum, 3> before = find_plate(scene);
  turn(kDuration);
  const std::array<mjtNum, 3> after = find_plate(scene);
  return mju_dist3(before.data(), after.data()) / kDuration;
}

TEST_P(AdvanceAnchors, APlateThatTurnsStaysInItsGrip) {
  for (const double accuracy : {1e-2, 1e-3, 1e-4, 1e-6})
    for (const bool extrapolate : {true, false})
      EXPECT_LE(measure_plate_drift(options(), accuracy, extrapolate), 1e-6)
          << accuracy << " " << extrapolate;
  // Without anchors friction creeps, and chords remain.
  EXPECT_GT(measure_plate_drift(make_options(GetParam()), 1e-3, false), 1e-5);
}

/// A call whose first attempt is rejected gives the same bits as one that begins with the shorter
/// step.
TEST_P(AdvanceAnchors, ARejectedStepLeavesThemAsTheyWere) {
  const std::string xml = make_small_pile();
  Scene scene(xml);
  Stepper stepper(scene.model, options());
  int num_compared = 0;
  for (int k = 1; k <= 60; ++k) {
    Scene copy(xml);
    copy.set_state(scene.state());
    Stepper other(copy.model, options());
    other.set_state(stepper.get_state());
    const double until = 0.02 * k;
    const AdvanceReport rejected =
        stepper.advance(scene.data, {.until = until, .accuracy = 1e-4, .first_step = 0.02}).advance;
    if (rejected.num_rejected == 0) continue;
    // The first step is the largest in many calls. In the others both calls differ.
    const AdvanceReport direct =
        other
            .advance(copy.data,
                     {.until = until, .accuracy = 1e-4, .first_step = rejected.largest_step})
            .advance;
    if (direct.num_rejected > 0 || direct.num_steps != rejected.num_steps ||
        direct.smallest_step != rejected.smallest_step ||
        direct.largest_step != rejected.largest_step)
      continue;
    num_compared += scene.data->ncon > 0;
    EXPECT_TRUE(has_same_bits(scene.state(), copy.state())) << k;
    EXPECT_EQ(stepper.save_anchors(), other.save_anchors()) << k;
  }
  EXPECT_GE(num_compared, 3);
}

int num_checks_left = 0;
bool interrupt_late() { return --num_checks_left <= 0; }

TEST_P(AdvanceAnchors, AnInterruptedCallLeavesThemAsTheyWere) {
  Scene scene(make_small_pile());
  Stepper stepper(scene.model, options());
  advance(&stepper, &scene, 0.6, 1e-3);
  stepper.set_interrupt(&interrupt_late);
  const std::vector<mjtNum> state = scene.state();
  const std::vector<std::uint64_t> memory = stepper.get_state(), anchors = stepper.save_anchors();
  for (const int num_checks : {1, 2}) {
    num_checks_left = num_checks;
    const StepReport& report = stepper.advance(scene.data, {.until = 1e4, .accuracy = 1e-6});
    EXPECT_EQ(report.status, kInterrupted) << report.message;
    EXPECT_TRUE(has_same_bits(scene.state(), state));
    EXPECT_EQ(stepper.get_state(), memory);
    EXPECT_EQ(stepper.save_anchors(), anchors);
  }
}

TEST_P(AdvanceAnchors, ACheckpointContinuesWithTheSameBits) {
  const std::string xml = make_small_pile();
  Scene scene(xml);
  Stepper stepper(scene.model, options());
  for (int k = 1; k <= 20; ++k) {
    advance(&stepper, &scene, 0.03 * k, 1e-3);
    Scene copy(xml), twin(xml);
    copy.set_state(scene.state());
    twin.set_state(scene.state());
    Stepper other(copy.model, options()), same(twin.model, options());
    other.set_state(stepper.get_state());
    same.set_state(stepper.get_state());
    const double until = 0.03 * k + 0.02;
    EXPECT_EQ(advance(&other, &copy, until, 1e-3).missing_memory, 0);
    advance(&same, &twin, until, 1e-3);
    EXPECT_TRUE(has_same_bits(copy.state(), twin.state()));
    EXPECT_EQ(other.get_state(), same.get_state());
    // Ordinary steps go on with the anchors of a call.
    EXPECT_EQ(other.step(copy.data).anchors.num_forgotten, 0);
  }
}

TEST_P(AdvanceAnchors, AnotherStateForgetsThemAndTheReportSaysSo) {
  Scene scene(make_wrist(2e-3));
  Stepper stepper(scene.model, options());
  for (int k = 1; k <= 40; ++k) {
    drive_wrist(&scene);
    advance(&stepper, &scene, 0.01 * k);
  }
  const StepReport& held = advance(&stepper, &scene, 0.41);
  EXPECT_EQ(held.anchors.num_forgotten, 0);
  EXPECT_GT(held.anchors.energy, 0);
  EXPECT_EQ(held.missing_memory, 0);
  scene.data->qpos[0] += 1e-9;
  const StepReport& moved = advance(&stepper, &scene, 0.42);
  EXPECT_EQ(moved.anchors.num_forgotten, 8);
  EXPECT_TRUE(moved.missing_memory & kAnchors);
  EXPECT_EQ(advance(&stepper, &scene, 0.43).anchors.num_forgotten, 0);
}

/// The length of a step changes neither the stiffness of a spring nor its deflection.
TEST_P(AdvanceAnchors, AHeldLoadDeflectsASpringAsInFixedSteps) {
  std::vector<double> stretches;
  for (const double accuracy : {0.0, 1e-3, 1e-6}) {
    Scene scene(make_incline());
    Stepper stepper(scene.model, options());
    if (accuracy > 0)
      advance(&stepper, &scene, 1, accuracy);
    else
      run(&stepper, &scene, 500);
    stretches.push_back(stepper.step(scene.data).anchors.largest_stretch);
  }
  EXPECT_GT(stretches[0], 0);
  for (const double stretch : stretches) EXPECT_NEAR(stretch, stretches[0], 1e-3 * stretches[0]);
}

}  // namespace
}  // namespace stiction::sim::advance_anchors_test
