// Calls of Stepper::advance: bad input, failures, what a call remembers, and what it leaves alone.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/advance/advance_scenes.hpp"
#include "stiction/base/error.hpp"
#include "support/same_bits.hpp"

namespace stiction::sim::advance_calls_test {
namespace {

using contact::ContactModel;
using support::has_same_bits;
using support::Scene;

class AdvanceCalls : public testing::TestWithParam<ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, AdvanceCalls, testing::ValuesIn(make_advance_models()),
                         model_name);

/// Expects an Error whose message has a text.
void expect_error(Stepper* stepper, Scene* scene, const AdvanceOptions& options,
                  const std::string& text) {
  const std::vector<mjtNum> before = scene->state();
  try {
    (void)stepper->advance(scene->data, options);
    ADD_FAILURE() << "no error with " << text;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
  EXPECT_TRUE(has_same_bits(before, scene->state()));
}

TEST(AdvanceInput, BadArgumentsAreNamed) {
  Scene scene(make_ball_mjcf(0.3));
  Stepper stepper(scene.model, {});
  scene.data->time = 2;
  const double nan = std::nan("");
  expect_error(&stepper, &scene, {.until = 1.9}, "until: is 1.9, must be finite and not before");
  expect_error(&stepper, &scene, {.until = nan}, "until: is nan");
  for (const double accuracy : {0.0, 1e-10, -1.0, nan})
    expect_error(&stepper, &scene, {.until = 3, .accuracy = accuracy}, "accuracy: is");
  expect_error(&stepper, &scene, {.until = 3, .max_time_step = 0}, "max_time_step: is 0");
  // Steps below one unit in the last place of the time would never end.
  for (const double longest : {1e-300, 1e-17, 9.9e-8})
    expect_error(&stepper, &scene, {.until = 3, .max_time_step = longest},
                 "must be at least 1e-07 s");
  expect_error(&stepper, &scene, {.until = 3, .first_step = nan}, "first_step: is nan");
  expect_error(&stepper, &scene, {.until = 3, .last_error = 2}, "last_error: is 2");
}

TEST(AdvanceInput, ModelsThatDependOnTheTimeStepAreNamed) {
  Scene scene(make_ball_mjcf(0.3));
  for (const contact::ContactModelTraits& traits : contact::contact_models()) {
    const auto models = make_advance_models();
    Stepper stepper(scene.model, make_options(traits.model));
    if (std::find(models.begin(), models.end(), traits.model) != models.end()) continue;
    expect_error(&stepper, &scene, {.until = 1},
                 "choose one of these: lagged, lagged_regularized, tamsi, coulomb");
  }
}

/// A call is a function of the state, the inputs, and what the stepper remembers.
TEST_P(AdvanceCalls, GoOnWithTheSameBitsFromACheckpoint) {
  const std::string xml = make_small_pile();
  Scene scene(xml);
  Stepper stepper(scene.model, make_options(GetParam()));
  for (int k = 1; k <= 10; ++k) {
    advance(&stepper, &scene, 0.03 * k, 1e-3);
    Scene copy(xml);
    copy.set_state(scene.state());
    Stepper other(copy.model, make_options(GetParam()));
    other.set_state(stepper.get_state());
    const double until = 0.03 * k + 0.02;
    Scene twin(xml);
    twin.set_state(scene.state());
    Stepper same(twin.model, make_options(GetParam()));
    same.set_state(stepper.get_state());
    EXPECT_EQ(advance(&other, &copy, until, 1e-3).missing_memory, 0);
    advance(&same, &twin, until, 1e-3);
    EXPECT_TRUE(has_same_bits(copy.state(), twin.state()));
  }
}

TEST(AdvanceCall, StateSetByHandBeginsAnewAndIsNamed) {
  const std::string xml = make_ball_mjcf(0.3);
  Scene scene(xml);
  Stepper stepper(scene.model, {});
  EXPECT_EQ(advance(&stepper, &scene, 0.1, 1e-3).missing_memory, 0);
  scene.data->qvel[0] = 0.5;
  Scene fresh(xml);
  fresh.set_state(scene.state());
  const StepReport report = advance(&stepper, &scene, 0.2, 1e-3);
  EXPECT_TRUE(report.missing_memory & kStepLength);
  EXPECT_EQ(report.advance.first_step, 1e-3);
  Stepper other(fresh.model, {});
  advance(&other, &fresh, 0.2, 1e-3);
  EXPECT_TRUE(has_same_bits(scene.state(), fresh.state()));
}

/// The two numbers of a report repeat a call from the state alone, where there are no springs.
TEST(AdvanceCall, FirstStepAndErrorRepeatACall) {
  const std::string xml = make_small_pile();
  Scene scene(xml);
  const StepOptions options = make_options(contact::ContactModel::coulomb);
  Stepper stepper(scene.model, options);
  for (int k = 1; k <= 10; ++k) {
    Scene copy(xml);
    copy.set_state(scene.state());
    const AdvanceReport report = advance(&stepper, &scene, 0.04 * k, 1e-4).advance;
    Stepper other(copy.model, options);
    (void)other.advance(copy.data, {.until = 0.04 * k,
                                    .accuracy = 1e-4,
                                    .first_step = report.first_step,
                                    .last_error = report.first_error});
    EXPECT_TRUE(has_same_bits(scene.state(), copy.state())) << k;
  }
}

TEST_P(AdvanceCalls, LeaveTheModelAndLaterStepsAsTheyWere) {
  const std::string xml = make_small_pile();
  Scene scene(xml);
  Stepper stepper(scene.model, make_options(GetParam()));
  const mjOption before = scene.model->opt;
  advance(&stepper, &scene, 0.2, 1e-3);
  EXPECT_EQ(std::memcmp(&before, &scene.model->opt, sizeof before), 0);
  EXPECT_EQ(stepper.options().parameters.friction_regularization, 1e-3);
  EXPECT_EQ(stepper.options().parameters.gap_correction, 0.1);
  EXPECT_EQ(stepper.options().tolerance, 1e-5);
  // A stepper that never advanced takes the same step from here.
  Scene copy(xml);
  copy.set_state(scene.state());
  Stepper other(copy.model, make_options(GetParam()));
  other.set_state(stepper.get_state());
  run(&stepper, &scene, 5);
  run(&other, &copy, 5);
  EXPECT_TRUE(has_same_bits(scene.state(), copy.state()));
}

/// Expects that a failed call changed nothing.
void expect_failure_without_trace(const StepOptions& options, const AdvanceOptions& advance_options,
                                  std::uint32_t status) {
  const std::string xml = make_small_pile();
  Scene scene(xml);
  Stepper good(scene.model, make_options(options.contact_model));
  advance(&good, &scene, 0.2, 1e-3);
  Stepper stepper(scene.model, options);
  stepper.set_state(good.get_state());
  const std::vector<mjtNum> before = scene.state();
  const std::vector<std::uint64_t> memory = stepper.get_state();
  const mjOption opt = scene.model->opt;
  const StepReport& report = stepper.advance(scene.data, advance_options);
  EXPECT_TRUE(report.status & status) << report.status << report.message;
  EXPECT_FALSE(report.message.empty());
  EXPECT_TRUE(has_same_bits(before, scene.state()));
  EXPECT_EQ(memory, stepper.get_state());
  EXPECT_EQ(std::memcmp(&opt, &scene.model->opt, sizeof opt), 0);
  EXPECT_EQ(stepper.options().parameters.friction_regularization, 1e-3);
}

TEST_P(AdvanceCalls, FailuresChangeNothing) {
  StepOptions slow = make_options(GetParam());
  slow.max_seconds = 1e-9;
  expect_failure_without_trace(slow, {.until = 1, .accuracy = 1e-4}, kOutOfTime);
  StepOptions lazy = make_options(GetParam());
  lazy.iteration_budget = 1;
  expect_failure_without_trace(lazy, {.until = 1, .accuracy = 1e-4}, kOutOfIterations);
  StepOptions weak = make_options(GetParam(), 1e-13);
  weak.max_iterations = 1;
  expect_failure_without_trace(weak, {.until = 1, .accuracy = 1e-4},
                               kNotConverged | kCertificateFailed);
}

TEST(AdvanceCall, BadStateFailsBeforeAnything) {
  Scene scene(make_ball_mjcf(0.3));
  Stepper stepper(scene.model, {});
  scene.data->qvel[1] = std::nan("");
  EXPECT_EQ(stepper.advance(scene.data, {.until = 1}).status, kNonFiniteState);
  EXPECT_EQ(scene.data->time, 0);
}

/// A fall with a g of 1e9 m/s^2 has an error of g h^2 / 4 = 2.5e-6 m in the least step.
TEST(AdvanceCall, MissingTheAccuracyByFarFailsOrIsCounted) {
  const std::string xml = support::make_mjcf(R"(gravity="0 0 -1e9")", R"(<worldbody><body>
    <freejoint/><geom size="0.1"/></body></worldbody>)");
  for (const OnFailure on_failure : {OnFailure::stop, OnFailure::keep_best}) {
    for (const double accuracy : {1e-9, 1e-7}) {
      Scene scene(xml);
      StepOptions options;
      options.on_failure = on_failure;
      Stepper stepper(scene.model, options);
      const StepReport& report = stepper.advance(scene.data, {.until = 2e-6, .accuracy = accuracy});
      const bool fails = on_failure == OnFailure::stop && accuracy == 1e-9;
      EXPECT_EQ(report.status, fails ? kInaccurate : kOk) << report.message;
      EXPECT_EQ(scene.data->time, fails ? 0 : 2e-6);
      if (fails) continue;
      EXPECT_FALSE(report.advance.accuracy_reached());
      EXPECT_EQ(report.advance.num_inaccurate, report.advance.num_steps);
      EXPECT_NEAR(report.advance.largest_error, 2.5e-6, 1e-7);
    }
  }
}

/// The norm of errors follows a model whose geoms the caller moves between calls.
TEST(AdvanceCall, LeversFollowTheModel) {
  const std::string xml = make_pendulum();
  const AdvanceOptions options{.until = 0.1, .accuracy = 1e-3, .first_step = 1e-3, .last_error = 1};
  Scene scene(xml), fresh(xml);
  Stepper stepper(scene.model, {});
  const std::vector<mjtNum> start = scene.state();
  const double before = stepper.advance(scene.data, options).advance.sum_of_errors;
  for (Scene* each : {&scene, &fresh}) each->model->geom_pos[3] += 3;
  scene.set_state(start);
  const double after = stepper.advance(scene.data, options).advance.sum_of_errors;
  Stepper other(fresh.model, {});
  EXPECT_EQ(after, other.advance(fresh.data, options).advance.sum_of_errors);
  EXPECT_GT(after, 2 * before);
}

/// At 9e9 s neighboring times are 1.9e-6 s apart. Steps that are longer still advance the time.
TEST(AdvanceCall, StepBelowTheResolutionOfTheTimeFails) {
  for (const double longest : {1e-7, 1e-6, 1e-3}) {
    Scene scene(make_ball_mjcf(0.3));
    scene.data->time = 9e9;
    Stepper stepper(scene.model, {});
    const StepReport& report =
        stepper.advance(scene.data, {.until = 9e9 + 0.01, .max_time_step = longest});
    const bool fails = longest < 1e-3;
    EXPECT_EQ(report.status, fails ? kInaccurate : kOk) << report.message;
    EXPECT_EQ(scene.data->time, fails ? 9e9 : 9e9 + 0.01);
    const bool is_named = report.message.find("does not advance the time") != std::string::npos;
    EXPECT_EQ(is_named, fails) << report.message;
  }
}

/// The end of a call may be the next time that there is.
TEST(AdvanceCall, MayEndAtTheNextTime) {
  Scene scene(make_ball_mjcf(0.3));
  scene.data->time = 1;
  Stepper stepper(scene.model, {});
  const double until = std::nextafter(1.0, 2.0);
  EXPECT_EQ(stepper.advance(scene.data, {.until = until}).status, kOk);
  EXPECT_EQ(scene.data->time, until);
}

/// Boxes that strike and overlap each other are not solved by one iteration: at the least step the
/// solver may be wrong by h |v - v*| of 1e-4 m, although the steps of h and h/2 agree to 1e-7 m.
TEST(AdvanceCall, SolutionThatIsNotCertifiedToTheAccuracyIsCounted) {
  std::string bodies;
  for (int i = 0; i < 5; ++i)
    bodies += "<body pos=\"0 0 " + std::to_string(0.049 + 0.099 * i) + "\" euler=\"0 0 " +
              std::to_string(10 * i) + "\"><freejoint/>" +
              R"(<geom type="box" size="0.06 0.07 0.05" mass=")" +
              std::to_string(std::pow(10.0, i - 2)) + "\"/></body>";
  Scene scene(support::make_mjcf(
      R"(timestep="0.002")",
      R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies + "</worldbody>"));
  for (int i = 0; i < 5; ++i) {
    scene.data->qvel[6 * i] = 10 * i;
    scene.data->qvel[6 * i + 2] = -5 * i;
  }
  StepOptions options;
  options.on_failure = OnFailure::keep_best;
  options.max_iterations = 1;
  options.tolerance = 0.9;
  // A near-rigid contact has no force where it overlaps at the start.
  plant::MaterialTable materials = plant::make_default_materials(scene.model);
  for (plant::Material& material : materials.geoms) material.law.stiffness = 1e10;
  Stepper stepper(scene.model, options, materials);
  const AdvanceReport report =
      stepper
          .advance(scene.data,
                   {.until = 1e-6, .accuracy = 1e-6, .max_time_step = 1e-7, .extrapolate = false})
          .advance;
  EXPECT_LT(report.largest_error, 1e-6);
  EXPECT_GT(report.num_inaccurate, 0);
}

bool interrupt() { return true; }

TEST(AdvanceCall, InterruptionChangesNothing) {
  Scene scene(make_small_pile());
  Stepper stepper(scene.model, {});
  stepper.set_interrupt(&interrupt);
  const std::vector<mjtNum> before = scene.state();
  EXPECT_EQ(stepper.advance(scene.data, {.until = 1e4, .accuracy = 1e-8}).status, kInterrupted);
  EXPECT_TRUE(has_same_bits(before, scene.state()));
}

/// A body that no contact holds moves with its mocap parent at the caller's velocity, whatever the
/// steps are.
TEST(AdvanceCall, MocapBodiesMoveThroughTheCall) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
    <body name="belt" mocap="true"><geom type="box" size="5 1 0.1" friction="1"/></body>
    <body pos="0 0 0.2"><freejoint/><geom type="box" size="0.1 0.1 0.1" friction="1"/></body>
    </worldbody>)"));
  Stepper stepper(scene.model, {});
  mjData* d = scene.data;
  for (int k = 0; k < 100; ++k) {
    const double given = 0.2 * d->time;
    d->mocap_pos[0] = given;
    advance(&stepper, &scene, 0.01 * (k + 1), 1e-4);
    EXPECT_EQ(d->mocap_pos[0], given);
  }
  EXPECT_NEAR(d->qvel[0], 0.2, 1e-3);
}

}  // namespace
}  // namespace stiction::sim::advance_calls_test
