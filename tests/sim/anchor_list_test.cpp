// The list of the springs of the friction law `elastic`.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/anchor_scenes.hpp"
#include "support/error_message.hpp"

namespace stiction::sim {
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

}  // namespace
}  // namespace stiction::sim
