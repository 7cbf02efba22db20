// The list of the springs of the friction law `elastic`.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/anchor_scenes.hpp"
#include "support/error_message.hpp"

namespace stiction::sim::anchor_list_test {
namespace {

using contact::ContactModel;
using support::message_of;
using support::Scene;

TEST(AnchorList, HasEachSpringOnce) {
  Scene scene = make_incline(1.2, 2e-3);
  Stepper stepper(scene.model, make_elastic());
  run(&stepper, &scene, 200);
  double energy = 0, force = 0;
  const std::vector<AnchorReport> anchors = stepper.list_anchors();
  EXPECT_EQ(anchors.size(), 4);
  for (const AnchorReport& anchor : anchors) {
    EXPECT_EQ(anchor.geoms, (std::array{0, 1}));
    EXPECT_EQ(anchor.elements, (std::array{-1, -1}));
    EXPECT_TRUE(anchor.slips);
    energy += 0.5 * anchor.stiffness * dot(anchor.stretch, anchor.stretch);
    force += anchor.force.x;
  }
  EXPECT_NEAR(energy, stepper.step(scene.data).anchors.energy, 1e-3 * energy);
  // A block that slides is braked by its friction.
  EXPECT_NEAR(force, -0.5 * kGravity * std::cos(std::atan(0.5 * 1.2)), 1e-3);

  // Another stepper has the same list from the saved state.
  Stepper other(scene.model, make_elastic());
  other.set_state(stepper.get_state());
  EXPECT_TRUE(other.list_anchors().front().slips);
  Stepper soft(scene.model, make_options(ContactModel::lagged));
  EXPECT_NE(message_of([&] { (void)soft.list_anchors(); }).find("list_anchors: needs"),
            std::string::npos);
}

/// Expects that each spring of a box at half the cone pushes it as the contact of the report does.
void expect_forces_of_contacts(const std::string& geom, const std::string& pair = "") {
  for (const ContactModel model : support::models_with_anchors()) {
    Scene scene(support::make_mjcf(
        tilt(0.05, 2e-3), R"(<worldbody><geom name="floor" type="plane" size="5 5 1" )" + geom +
                              R"(/><body pos="0 0 0.05"><freejoint/>
<geom name="box" type="box" size="0.1 0.1 0.05" mass="1" )" +
                              geom + "/></body></worldbody>" + pair));
    StepOptions options = make_elastic(model);
    options.tolerance = 1e-9;
    Stepper stepper(scene.model, options, make_stiff(scene, 1e6));
    run(&stepper, &scene, 2000);
    const StepReport& report = stepper.step(scene.data);
    const std::vector<AnchorReport> anchors = stepper.list_anchors();
    const ContactReport& contacts = report.contacts;
    ASSERT_EQ(anchors.size(), 4);
    ASSERT_EQ(contacts.size(), 4);
    double total = 0, energy = 0;
    for (int i = 0; i < 4; ++i) {
      const math::Vec3 normal{contacts.normal[3 * i], contacts.normal[3 * i + 1],
                              contacts.normal[3 * i + 2]};
      const math::Vec3 force = math::Vec3{contacts.impulse[3 * i], contacts.impulse[3 * i + 1],
                                          contacts.impulse[3 * i + 2]} *
                               (1 / contacts.time_step);
      const math::Vec3 friction = force - normal * dot(normal, force);
      EXPECT_LE(norm(anchors[i].force - friction), 1e-6) << geom << pair;
      total += anchors[i].force.x;
      energy -= 0.5 * dot(anchors[i].force, anchors[i].stretch);
    }
    EXPECT_NEAR(total, -kGravity * std::sin(0.05), 1e-6);
    // The twist of the springs holds at most 2 % of their energy.
    EXPECT_NEAR(energy, report.anchors.energy, 0.03 * energy);
  }
}

TEST(AnchorList, HasTheForcesOfTheContacts) {
  expect_forces_of_contacts(R"(condim="3" friction="0.1")");
  // Torsion or rolling may have the largest coefficient.
  expect_forces_of_contacts(R"(condim="4" friction="0.1 0.3 0")");
  expect_forces_of_contacts(R"(condim="6" friction="0.1 0.05 0.4")");
  // Friction along the slope is the smaller or the larger one.
  for (const char* friction : {"0.1 0.3 0.01 0.01 0.01", "0.3 0.1 0.01 0.01 0.01"})
    expect_forces_of_contacts(R"(condim="3")",
                              R"(<contact><pair geom1="floor" geom2="box" condim="6" friction=")" +
                                  std::string(friction) + R"("/></contact>)");
}

}  // namespace
}  // namespace stiction::sim::anchor_list_test
