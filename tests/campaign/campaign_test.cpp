// A sample of the campaign of laws on random worlds, and proof that the laws find what is wrong.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "campaign/campaign.hpp"
#include "campaign/step_laws.hpp"
#include "campaign/view_laws.hpp"
#include "support/trials.hpp"

namespace stiction::campaign::campaign_test {
namespace {

using support::Scene;

void expect_no_violations(const Ledger& ledger) {
  for (const Violation& v : ledger.violations())
    ADD_FAILURE() << v.law << " of " << v.model << " in world " << v.seed << ", step " << v.step
                  << ": " << v.value << ", allowed " << v.allowed;
}

TEST(Laws, HoldInASampleOfWorlds) {
  Ledger ledger;
  for (std::uint64_t seed = 0; seed < support::num_trials(100); ++seed)
    check_world(seed, "", &ledger);
  expect_no_violations(ledger);
  EXPECT_GT(ledger.counts().at("mirror"), support::num_trials(500));
  EXPECT_GT(ledger.counts().at("momentum"), support::num_trials(5000));
}

// Worlds in which the campaign found faults; docs/reliability.md describes the campaign.
TEST(Laws, HoldInWorldsThatBrokeThem) {
  Ledger ledger;
  for (const std::uint64_t seed : {229, 780, 2488, 2687, 2988})
    check_world(seed, "no_slip", &ledger);
  for (const std::uint64_t seed : {4126, 4714, 16331}) check_world(seed, "viscous", &ledger);
  for (const std::uint64_t seed : {2511, 9307, 11250, 15922, 20584})
    check_world(seed, "coulomb", &ledger);
  expect_no_violations(ledger);
}

/// Sums over words and numbers, which change if two of them are swapped.
struct Fingerprint {
  std::uint64_t words = 14695981039346656037U;  // the FNV hash
  double numbers = 0, size = 0;                 // weighted sums of numbers and their magnitudes
  int num_numbers = 0;

  void add(double x) {
    const double term = x * (1 + num_numbers++ % 97);
    numbers += term;
    size += std::abs(term);
  }
  void add(std::string text) {
    for (char& c : text)
      if (c == '"' || c == '<' || c == '>' || c == '/') c = ' ';
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
      char* end = nullptr;
      const double x = std::strtod(word.c_str(), &end);
      if (*end == '\0')
        add(x);
      else
        for (const char c : word) words = (words ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
  }
};

// Compilers evaluate the operands of + in different orders. If two of them draw random numbers, a
// seed names different worlds in different builds. The sums are those of gcc and clang.
TEST(Worlds, AreTheSameFromEveryCompiler) {
  Fingerprint all;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const World world = make_world(seed, {});
    all.add(world.xml);
    Scene scene(world.xml);
    randomize_state(world, &scene);
    for (const double x : scene.state()) all.add(x);
    for (const plant::Material& material : make_materials(world, scene).geoms)
      all.add(material.law.restitution + material.law.relaxation_time);
  }
  EXPECT_EQ(all.words, 1500856490659078767U);
  // C libraries round powers and logarithms differently.
  EXPECT_NEAR(all.numbers, 1889390.4874581061, 1e-11 * all.size);
}

TEST(Worlds, AreTheSameWorldInEveryView) {
  // A view that turns everything back gives the plain world.
  View mirrored;
  mirrored.is_mirrored = true;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const World plain = make_world(seed, {}), seen = make_world(seed, mirrored);
    Scene a(plain.xml), b(seen.xml);
    randomize_state(plain, &a);
    carry_state(a, mirrored, &b);
    mj_forward(a.model, a.data);
    mj_forward(b.model, b.data);
    for (int i = 3; i < 3 * a->nbody; ++i)
      EXPECT_NEAR(a.data->xpos[i], (i % 3 == 1 ? -1 : 1) * b.data->xpos[i], 1e-12);
    EXPECT_NEAR(a.data->energy[1], b.data->energy[1], 1e-12);
    const std::vector<double> back = carry_velocities_back(a, mirrored, b);
    for (int i = 0; i < a->nv; ++i) EXPECT_EQ(back[i], a.data->qvel[i]);
  }
}

/// A body on the floor, and a step of it whose result can be damaged.
struct Damage {
  std::string law;  // that finds it
  std::function<void(sim::StepReport*, Scene*)> apply;
  contact::ContactModel model = contact::ContactModel::coulomb;
};

class DamagedSteps : public testing::TestWithParam<Damage> {};

TEST_P(DamagedSteps, AreFound) {
  World world;
  world.xml = R"(<mujoco><option timestep="0.002"/><worldbody>
<geom name="ground" type="plane" size="2 2 1" friction="0.5"/>
<body name="b" pos="0 0 0.0999"><freejoint name="j"/><site name="all" size="9"/>
<geom name="g" type="box" size="0.1 0.1 0.1" friction="0.5"/></body></worldbody>
<sensor><touch name="b" site="all"/></sensor></mujoco>)";
  world.traits.is_near_rigid = world.traits.is_passive = true;
  Scene scene(world.xml);
  scene.data->qvel[0] = 0.3;
  sim::StepOptions options;
  options.contact_model = GetParam().model;
  options.parameters.friction_law = contact::FrictionRegularizationKind::soft;
  sim::Stepper stepper(scene.model, options);
  sim::StepReport report;
  stepper.step(scene.data, 1, &report);
  const std::vector<double> v0(scene.data->qvel, scene.data->qvel + 6);
  stepper.step(scene.data, 1, &report);
  ASSERT_TRUE(report.ok());

  Ledger clean;
  check_step({world, scene, report, options, v0}, &clean);
  EXPECT_TRUE(clean.violations().empty()) << clean.violations().front().law;

  GetParam().apply(&report, &scene);
  Ledger ledger;
  check_step({world, scene, report, options, v0}, &ledger);
  bool is_found = false;
  for (const Violation& v : ledger.violations()) is_found = is_found || v.law == GetParam().law;
  EXPECT_TRUE(is_found);
}
INSTANTIATE_TEST_SUITE_P(
    Damages, DamagedSteps,
    testing::Values(
        Damage{"momentum", [](auto* report, auto*) { report->contacts.impulse[2] *= 1.001; }},
        Damage{"angular_momentum",
               [](auto* report, auto*) { report->contacts.torque_impulse[1] += 1e-3; }},
        Damage{"contact_velocity",
               [](auto* report, auto*) { report->contacts.slip_velocity[0] += 1e-6; }},
        Damage{"cone", [](auto* report, auto*) { report->contacts.impulse[0] -= 1e-2; }},
        Damage{"friction_power", [](auto* report, auto*) { report->contacts.impulse[0] += 1; }},
        Damage{"sliding", [](auto* report, auto*) { report->contacts.impulse[0] *= 0.99; },
               contact::ContactModel::rigid_coulomb},
        Damage{"attraction",
               [](auto* report, auto*) { report->contacts.normal_impulse[0] = -1e-9; }},
        Damage{"adhesion", [](auto* report, auto*) { report->contacts.distance[0] = 1e-3; }},
        Damage{"mj_contactForce",
               [](auto*, Scene* s) { s->data->efc_force[s->data->nefc - 1] += 1; }},
        Damage{"touch_sensor", [](auto*, Scene* s) { s->data->sensordata[0] *= 1.001; }},
        Damage{"qacc", [](auto*, Scene* s) { s->data->qacc[2] += 1e-3; }}),
    [](const auto& info) { return info.param.law; });

}  // namespace
}  // namespace stiction::campaign::campaign_test
