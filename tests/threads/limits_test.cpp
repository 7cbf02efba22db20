// Limits of the work of a step: iterations, time, and an interruption by the caller. A step that
// exceeds one has a status of its own and changes nothing.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::limits_test {
namespace {

using contact::ContactModel;
using contact::ContactModelTraits;
using support::Scene;

/// A simulator that can exceed a limit: a contact model with an integrator and an LCP solver.
struct Case {
  ContactModel model;
  Integrator integrator = Integrator::euler;
  numerics::LcpSolver lcp_solver = numerics::LcpSolver::ppm_ratio;
};

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  for (const ContactModelTraits& traits : contact::contact_models()) {
    if (traits.is_mj_step) continue;
    cases.push_back({traits.model});
    if (traits.is_rigid) cases.push_back({traits.model, Integrator::event_driven});
    if (traits.has_smooth_forces) cases.push_back({traits.model, Integrator::rk4});
    if (!traits.options.lcp_solver) continue;
    for (const std::string_view name : numerics::lcp_solvers())
      if (name != "active_set" || numerics::ActiveSetQp::is_available())
        cases.push_back({traits.model, Integrator::euler, numerics::parse_lcp_solver(name)});
  }
  return cases;
}

std::string name_case(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return std::string(contact::traits(c.model).name) + "_" +
         std::string(integrators()[static_cast<int>(c.integrator)].name) + "_" +
         std::string(numerics::name(c.lcp_solver)) + "_" + std::to_string(info.index);
}

StepOptions make_options_of(const Case& c) {
  StepOptions options = make_options(c.model);
  options.integrator = c.integrator;
  options.parameters.lcp_solver = c.lcp_solver;
  options.on_failure = OnFailure::stop;
  return options;
}

/// Returns clusters of boxes and spheres that touch each other and the floor, and swing on hinges.
std::string make_clusters() {
  std::string bodies;
  for (int cluster = 0; cluster < 3; ++cluster)
    for (int i = 0; i < 6; ++i) {
      char text[300];
      std::snprintf(text, sizeof text, R"(<body pos="%g %g %g"><freejoint/><geom %s/>%s</body>)",
                    2.0 * cluster, 0.17 * (i % 3), 0.0999 + 0.19 * (i / 3),
                    i % 2 ? R"(type="sphere" size="0.1")" : R"(type="box" size="0.1 0.08 0.1")",
                    i == 4 ? R"(<body pos="0.3 0 0"><joint axis="0 1 0" limited="true"
                                range="-10 10"/><geom size="0.05"/></body>)"
                           : "");
      bodies += text;
    }
  return support::make_mjcf(
      R"(timestep="0.002")",
      R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies + "</worldbody>");
}

bool is_same(const std::vector<mjtNum>& a, const std::vector<mjtNum>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(mjtNum)) == 0;
}

class Limits : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, Limits, testing::ValuesIn(make_cases()), name_case);

// The budget grows from 1 until the step succeeds. Each step that fails changes nothing, so the
// first that succeeds ends with the bits of a simulator without a budget.
TEST_P(Limits, AStepBeyondItsIterationsChangesNothing) {
  StepOptions options = make_options_of(GetParam());
  const std::string xml = make_clusters();
  Scene free_scene(xml);
  Stepper free_stepper(free_scene.model, options);
  int num_failed = 0;
  for (int step = 0; step < 3; ++step) {
    Scene scene(free_scene);
    scene.set_state(free_scene.state());
    const std::vector<std::uint64_t> memory = free_stepper.get_state();
    if (!free_stepper.step(free_scene.data).ok()) return;  // the model's own failure
    const std::vector<mjtNum> start = scene.state();
    for (int budget = 1;; budget += 1 + budget / 4) {
      ASSERT_LT(budget, 1'000'000);
      options.iteration_budget = budget;
      options.num_threads = 1 + budget % 3;
      Stepper stepper(scene.model, options);
      stepper.set_state(memory);
      const StepReport& report = stepper.step(scene.data);
      if (report.ok()) break;
      ++num_failed;
      ASSERT_EQ(report.status, kOutOfIterations) << report.message;
      ASSERT_FALSE(report.certificate.ok);
      ASSERT_EQ(report.num_steps, 0);
      ASSERT_TRUE(is_same(scene.state(), start)) << "budget " << budget;
      ASSERT_EQ(stepper.get_state(), memory);
    }
    ASSERT_TRUE(is_same(scene.state(), free_scene.state())) << "step " << step;
  }
  EXPECT_GT(num_failed, 0);
}

TEST_P(Limits, AStepBeyondItsTimeChangesNothing) {
  StepOptions options = make_options_of(GetParam());
  options.max_seconds = 1e-7;
  Scene scene(make_clusters());
  const std::vector<mjtNum> start = scene.state();
  for (const int num_threads : {1, 2}) {
    options.num_threads = num_threads;
    Stepper stepper(scene.model, options);
    const StepReport& report = stepper.step(scene.data, 3);
    EXPECT_EQ(report.status, kOutOfTime) << report.message;
    EXPECT_NE(report.message.find("max_seconds"), std::string::npos) << report.message;
    EXPECT_TRUE(is_same(scene.state(), start));
  }
}

bool interrupt() { return true; }

TEST_P(Limits, AnInterruptionEndsACallAfterAWholeStep) {
  Scene scene(make_clusters());
  Stepper stepper(scene.model, make_options_of(GetParam()));
  stepper.set_interrupt(&interrupt);
  const StepReport& report = stepper.step(scene.data, 1'000'000);
  if (report.status != kInterrupted) {  // the model failed before the first question
    EXPECT_LT(report.num_steps, 1000) << report.message;
    return;
  }
  EXPECT_NEAR(scene.data->time, report.num_steps * 0.002, 1e-9 * (1 + report.num_steps));
  stepper.set_interrupt(nullptr);
  EXPECT_EQ(stepper.step(scene.data).status & kInterrupted, 0u);
}

TEST(TimeLimit, HasNoEffectOnMjStep) {
  StepOptions options = make_options(ContactModel::mujoco);
  options.max_seconds = 1e-9;
  Scene scene(make_clusters());
  EXPECT_TRUE(Stepper(scene.model, options).step(scene.data, 3).ok());
}

TEST(TimeLimit, EndsLongSolvesSoon) {
  using Clock = std::chrono::steady_clock;
  support::RandomSceneOptions heap;
  heap.num_bodies = 250;
  std::string chain = R"(<worldbody><geom type="plane" size="9 9 1"/>)";
  for (int i = 0; i < 100; ++i)
    chain += std::string(i == 0 ? R"(<body pos="0 0 0.04">)" : R"(<body pos="0.1 0 0">)") +
             (i % 2 ? R"(<joint axis="0 1 0" range="-60 60"/>)" : R"(<joint axis="0 0 1"/>)") +
             R"(<geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 0"/>)";
  for (int i = 0; i < 100; ++i) chain += "</body>";
  chain += "</worldbody>";
  for (const std::string& xml :
       {support::make_random_scene(7, heap), support::make_mjcf(R"(timestep="0.002")", chain)})
    for (const ContactModelTraits& traits : contact::contact_models()) {
      if (traits.is_mj_step) continue;
      Scene scene(xml);
      StepOptions options = make_options(traits.model);
      options.on_failure = OnFailure::stop;
      options.max_seconds = 0.05;
      Stepper stepper(scene.model, options);
      const std::vector<mjtNum> start = scene.state();
      const Clock::time_point begin = Clock::now();
      const StepReport& report = stepper.step(scene.data);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      // A hundred times the limit, because tests share their processors and sanitizers are slow.
      EXPECT_LT(seconds, 5) << traits.name;
      if (report.status & kOutOfTime) {
        EXPECT_TRUE(is_same(scene.state(), start)) << traits.name;
      }
    }
}

}  // namespace
}  // namespace stiction::sim::limits_test
