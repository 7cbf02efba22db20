// `rigid_coulomb` in piles: bodies with mass ratios of 10 and friction up to 0.8 that fall on each
// other, hinges with limits, and a doll whose joints have limits, dry friction and servos.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "support/random_scene.hpp"

namespace stiction::sim::rigid_piles_test {
namespace {

using support::Scene;

/// Returns a pile of `num_layers` times four bodies and a doll, at random poses.
std::string make_pile(int seed, int num_layers, double spacing) {
  const char* const kGeoms[] = {R"(type="box" size="0.1 0.12 0.08")",
                                R"(type="capsule" size="0.06 0.1")", R"(size="0.1")",
                                R"(type="cylinder" size="0.08 0.05")"};
  const char* const kHinged =
      R"(<body pos="0.12 0 0"><joint axis="0 1 0" range="-40 40" frictionloss="0.05"/>
         <geom type="capsule" size="0.03" fromto="0 0 0 0.15 0 0"/></body>)";
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> unit;
  std::string bodies;
  for (int i = 0; i < 4 * num_layers; ++i) {
    const double x = 0.28 * (i % 2) + 0.06 * unit(rng);
    const double y = 0.28 * (i / 2 % 2) + 0.06 * unit(rng);
    const double z = 0.12 + spacing * (i / 4);
    const double mass = std::pow(10, unit(rng)) / 3;
    const double roll = 60 * unit(rng);
    const double pitch = 60 * unit(rng);
    const double yaw = 60 * unit(rng);
    const char* const geom = kGeoms[static_cast<int>(4 * unit(rng)) % 4];
    const double friction = 0.2 + 0.6 * unit(rng);
    char text[800];
    std::snprintf(text, sizeof text,
                  R"(<body pos="%g %g %g" euler="%g %g %g"><freejoint/>
                     <geom %s mass="%g" friction="%g"/>%s</body>)",
                  x, y, z, roll, pitch, yaw, geom, mass, friction, i % 4 == 3 ? kHinged : "");
    bodies += text;
  }
  const support::Doll doll = support::make_doll("d", 0.14, 0.14, 0.5 + spacing * num_layers);
  return support::make_mjcf(R"(timestep="0.002")",
                            R"(<worldbody><geom type="plane" size="9 9 1"/>)" + bodies + doll.body +
                                "</worldbody><actuator>" + doll.actuators + "</actuator>");
}

TEST(RigidPiles, EveryStepSolves) {
  int max_contacts = 0;
  for (int seed = 0; seed < 4; ++seed) {
    Scene scene(make_pile(seed, 3, seed % 2 == 0 ? 0.25 : 0.18));
    Stepper stepper(scene.model, make_options(contact::ContactModel::rigid_coulomb));
    for (int step = 0; step < 250; ++step) {
      const StepReport& report = stepper.step(scene.data);
      ASSERT_TRUE(report.ok()) << "seed " << seed << " step " << step << ": " << report.message;
      EXPECT_TRUE(report.certificate.ok) << "seed " << seed << " step " << step;
      max_contacts = std::max(max_contacts, report.contacts.size());
    }
  }
  EXPECT_GT(max_contacts, 25);
}

}  // namespace
}  // namespace stiction::sim::rigid_piles_test
