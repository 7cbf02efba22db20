// The same bits for any number of threads, and for islands together or apart.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::threads_test {
namespace {

using support::Scene;

std::string make_body(double x, double y, double z, double angle_deg, const char* geom) {
  char text[200];
  std::snprintf(text, sizeof text,
                R"(<body pos="%g %g %g" euler="%g 20 0"><freejoint/><geom %s/></body>)", x, y, z,
                angle_deg, geom);
  return text;
}

/// Returns a heap of falling bodies in layers of four by five, and dolls that fall among them.
std::string make_heap(int num_bodies, int num_dolls) {
  std::string bodies, actuators;
  const char* kGeoms[] = {R"(type="box" size="0.1 0.08 0.06")", R"(size="0.08")",
                          R"(type="capsule" size="0.05 0.08")", R"(size="0.07" condim="6")"};
  for (int i = 0; i < num_bodies; ++i)
    bodies += make_body(0.19 * (i % 4) + 0.01 * (i % 7), 0.19 * (i / 4 % 5) + 0.01 * (i % 3),
                        0.15 + 0.22 * (i / 20), 37 * i % 90, kGeoms[i % 4]);
  for (int i = 0; i < num_dolls; ++i) {
    const support::Doll doll =
        support::make_doll(std::string(1, char('a' + i)), 1.2 * i - 0.5, -0.5, 0.8);
    bodies += doll.body;
    actuators += doll.actuators;
  }
  return support::make_mjcf(R"(timestep="0.002")",
                            R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies +
                                "</worldbody><actuator>" + actuators + "</actuator>");
}

class Threads : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, Threads, testing::ValuesIn(compliant_models()), model_name);
INSTANTIATE_TEST_SUITE_P(Rigid, Threads, testing::ValuesIn(fast_rigid_models()), model_name);

TEST_P(Threads, OneTwoAndFourGiveTheSameBits) {
  const std::string xml = make_heap(40, 2);
  std::vector<Scene> scenes;
  std::vector<Stepper> steppers;
  scenes.reserve(3);
  for (const int num_threads : {1, 2, 4}) {
    Scene& scene = scenes.emplace_back(xml);
    StepOptions options = make_options(GetParam());
    options.num_threads = num_threads;
    steppers.emplace_back(scene.model, options);
  }
  int max_islands = 0, max_contacts = 0;
  const int num_steps = GetParam() == contact::ContactModel::tamsi ? 200 : 250;  // tamsi is slow
  for (int i = 0; i < num_steps; ++i) {
    for (int k = 0; k < 3; ++k) {
      for (int u = 0; u < scenes[k]->nu; ++u)
        scenes[k].data->ctrl[u] = 0.5 * ((i / 50 + u) % 3 - 1);
      const StepReport& report = steppers[k].step(scenes[k].data);
      ASSERT_TRUE(report.ok()) << report.message;
      max_islands = std::max(max_islands, report.statistics.num_islands);
      max_contacts = std::max(max_contacts, report.statistics.num_contacts);
    }
    const std::vector<mjtNum> one = scenes[0].state();
    for (int k = 1; k < 3; ++k) {
      const std::vector<mjtNum> other = scenes[k].state();
      ASSERT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(mjtNum)), 0)
          << "step " << i << ", " << (k == 1 ? 2 : 4) << " threads";
    }
  }
  EXPECT_GE(max_islands, 8);
  EXPECT_GE(max_contacts, 60);
}

TEST_P(Threads, IslandsMoveAlikeTogetherAndApart) {
  // If one island reaches a further contact, all islands of a rigid model start again from their
  // active contacts, which changes last bits.
  if (contact::traits(GetParam()).is_rigid) GTEST_SKIP() << "starts from the active contacts";
  // A tower, a heap and a doll, far from each other: in one model and in one each.
  std::string parts[3], actuators;
  for (int i = 0; i < 5; ++i)
    parts[0] += make_body(-5 + 0.02 * i, 0, 0.1 + 0.21 * i, 0, R"(type="box" size="0.1 0.1 0.1")");
  for (int i = 0; i < 8; ++i)
    parts[1] += make_body(0.03 * i, 0.1 * (i % 3), 0.1 + 0.15 * i, 10 * i,
                          R"(type="capsule" size="0.05 0.1")");
  const support::Doll doll = support::make_doll("d", 5, 0, 0.85);
  parts[2] = doll.body;
  const auto make = [&](const std::string& bodies, bool has_doll) {
    return support::make_mjcf(R"(timestep="0.002")",
                              R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies +
                                  "</worldbody>" +
                                  (has_doll ? "<actuator>" + doll.actuators + "</actuator>" : ""));
  };
  Scene together(make(parts[0] + parts[1] + parts[2], true));
  Stepper stepper(together.model, make_options(GetParam()));
  run(&stepper, &together, 300);

  int nq = 0;
  for (int k = 0; k < 3; ++k) {
    Scene apart(make(parts[k], k == 2));
    Stepper own(apart.model, make_options(GetParam()));
    run(&own, &apart, 300);
    EXPECT_EQ(std::memcmp(apart.data->qpos, together.data->qpos + nq, apart->nq * sizeof(mjtNum)),
              0)
        << "part " << k;
    EXPECT_GT(std::abs(apart.data->qpos[2] - apart->qpos0[2]), 1e-6) << "nothing moved";
    nq += apart->nq;
  }
  EXPECT_EQ(nq, together->nq);
}

}  // namespace
}  // namespace stiction::sim::threads_test
