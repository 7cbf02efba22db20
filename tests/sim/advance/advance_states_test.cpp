// Calls of Stepper::advance for states beside positions, velocities and activations: the samples of
// delayed controls and sensors, and the states of engine plugins.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/advance/advance_scenes.hpp"

namespace stiction::sim::advance_states_test {
namespace {

using support::Scene;

constexpr double kPeriod = 0.01;  // [s]

/// A mass of 1 kg on a slide with a motor.
std::string make_slide(const std::string& motor, const std::string& sensor = "") {
  return support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")", R"(<worldbody>
    <body><joint name="j" type="slide" axis="1 0 0"/>
      <geom size="0.1" mass="1" contype="0" conaffinity="0"/></body></worldbody>
    <actuator><motor joint="j" )" + motor + "/></actuator><sensor>" + sensor +
                                                                       "</sensor>");
}

/// Advances in periods with a control of 1 from a time on.
void push_from(double time, Stepper* stepper, Scene* scene, double until, double max_time_step) {
  for (int period = 0; (period + 0.5) * kPeriod < until; ++period) {
    scene->data->ctrl[0] = (period + 0.5) * kPeriod > time ? 1 : 0;
    const StepReport& report = stepper->advance(
        scene->data, {.until = (period + 1) * kPeriod, .max_time_step = max_time_step});
    ASSERT_TRUE(report.ok()) << report.message;
  }
}

TEST(AdvanceHistory, ADelayIsTheSameForStepsOfAnyLength) {
  struct Case {
    const char* interpolation;
    double velocity, position;
  };
  // From 0.12 s on the force is 1 N; before, it is 0, or rises for a period.
  constexpr double kTime = 0.08, kRise = kPeriod / 2;
  for (const Case& c :
       {Case{"zoh", kTime, kTime * kTime / 2},
        Case{"linear", kTime + kRise, kTime * kTime / 2 + kRise * kTime + kPeriod * kPeriod / 6}})
    for (const double longest : {kPeriod, 2e-3, 2e-4}) {
      Scene scene(
          make_slide(std::string(R"(delay="0.02" nsample="11" interp=")") + c.interpolation + '"'));
      Stepper stepper(scene.model, {});
      push_from(0.1, &stepper, &scene, 0.2, longest);
      EXPECT_NEAR(scene.data->qvel[0], c.velocity, 5e-3 * kTime) << c.interpolation << longest;
      EXPECT_NEAR(scene.data->qpos[0], c.position, 5e-3 * kTime * kTime) << longest;
    }
}

TEST(AdvanceHistory, ACallTakesOneSampleAsAStepOfItsLengthDoes) {
  const std::string mjcf = make_slide(R"(delay="0.02" nsample="4")",
                                      R"(<jointpos joint="j" delay="0.02" nsample="3"/>)");
  Scene scene(mjcf), fixed(mjcf);
  fixed->opt.timestep = kPeriod;
  Stepper stepper(scene.model, {});
  for (int period = 0; period < 12; ++period) {
    for (Scene* each : {&scene, &fixed}) {
      each->data->ctrl[0] = period % 3;
      each->data->time = period * kPeriod;
      // The sensors of both see the same positions.
      each->data->qpos[0] = 0.1 * period;
      each->data->qvel[0] = 0;
    }
    mj_step(fixed.model, fixed.data);
    ASSERT_TRUE(
        stepper.advance(scene.data, {.until = (period + 1) * kPeriod, .max_time_step = 7e-4}).ok());
    EXPECT_GT(stepper.model()->nhistory, 0);
    for (int i = 0; i < fixed->nhistory; ++i)
      EXPECT_EQ(scene.data->history[i], fixed.data->history[i]) << period << " " << i;
  }
}

TEST(AdvanceHistory, ACallThatFailsRestoresIt) {
  Scene scene(make_slide(R"(delay="0.02" nsample="4")"));
  Stepper stepper(scene.model, {});
  push_from(0.03, &stepper, &scene, 0.06, kPeriod);
  const std::vector<mjtNum> before = scene.state();
  scene.data->qfrc_applied[0] = std::nan("");
  EXPECT_FALSE(stepper.advance(scene.data, {.until = 0.1}).ok());
  scene.data->qfrc_applied[0] = 0;
  const std::vector<mjtNum> after = scene.state();
  EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(mjtNum)), 0);
}

// ---- plugins ------------------------------------------------------------------------------------

/// Registers a passive plugin whose state is the sum of the time steps that were taken.
void register_clock() {
  static const int slot = [] {
    mjpPlugin plugin;
    mjp_defaultPlugin(&plugin);
    plugin.name = "stiction.test.clock";
    plugin.capabilityflags = mjPLUGIN_PASSIVE;
    plugin.nstate = [](const mjModel*, int) { return 1; };
    plugin.init = [](const mjModel*, mjData*, int) { return 0; };
    plugin.reset = [](const mjModel*, mjtNum* state, void*, int) { state[0] = 0; };
    plugin.compute = [](const mjModel*, mjData*, int, int) {};
    plugin.advance = [](const mjModel* m, mjData* d, int instance) {
      d->plugin_state[m->plugin_stateadr[instance]] += m->opt.timestep;
    };
    return mjp_registerPlugin(&plugin);
  }();
  ASSERT_GE(slot, 0);
}

/// A ball that bounces, with the clock.
std::string make_clock() {
  return support::make_mjcf(
      R"(timestep="0.002")",
      R"(<extension><plugin plugin="stiction.test.clock"><instance name="clock"/></plugin></extension>
    <worldbody><geom type="plane" size="9 9 1"/>
    <body pos="0 0 0.3"><freejoint/><geom size="0.1"/>
      <plugin instance="clock"/></body></worldbody>)");
}

TEST(AdvancePlugins, AStateIsThatOfTheStepsThatWereAccepted) {
  register_clock();
  Scene scene(make_clock());
  Stepper stepper(scene.model, {});
  int num_rejected = 0;
  for (int period = 1; period <= 40; ++period) {
    const StepReport& report =
        stepper.advance(scene.data, {.until = period * kPeriod, .accuracy = 1e-6});
    ASSERT_TRUE(report.ok()) << report.message;
    num_rejected += report.advance.num_rejected;
  }
  EXPECT_GT(num_rejected, 0);
  EXPECT_NEAR(scene.data->plugin_state[0], 40 * kPeriod, 1e-12);
}

TEST(AdvancePlugins, AStateIsNamedOnce) {
  register_clock();
  constexpr int kKind = static_cast<int>(WarningKind::plugin_state);
  Scene scene(make_clock());
  Stepper stepper(scene.model, {});
  const StepReport& first = stepper.advance(scene.data, {.until = 0.01});
  EXPECT_EQ(first.warnings[kKind].count, 1);
  EXPECT_NE(
      first.warning.str().find("'stiction.test.clock' is stepped, but its error does not shorten"),
      std::string::npos)
      << first.warning;
  EXPECT_EQ(stepper.advance(scene.data, {.until = 0.02}).warnings[kKind].count, 0);
  Scene ball(make_ball_mjcf(0.3));
  Stepper other(ball.model, {});
  EXPECT_EQ(other.advance(ball.data, {.until = 0.01}).num_warnings, 0);
}

TEST(AdvancePlugins, ACheckpointContinuesWithTheSameBits) {
  register_clock();
  Scene scene(make_clock());
  Stepper stepper(scene.model, {});
  (void)stepper.advance(scene.data, {.until = 0.1, .accuracy = 1e-5});
  Scene copy(scene);
  copy.set_state(scene.state());
  Stepper other(copy.model, {});
  other.set_state(stepper.get_state());
  (void)stepper.advance(scene.data, {.until = 0.3, .accuracy = 1e-5});
  (void)other.advance(copy.data, {.until = 0.3, .accuracy = 1e-5});
  const std::vector<mjtNum> a = scene.state(), b = copy.state();
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(mjtNum)), 0);
}

}  // namespace
}  // namespace stiction::sim::advance_states_test
