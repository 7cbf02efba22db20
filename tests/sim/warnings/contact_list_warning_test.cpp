// The warning that MuJoCo keeps fewer contacts of two geoms than there are.
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::contact_list_warning_test {
namespace {

using support::Scene;

/// A foot of 24 x 16 cm on a height field of 2 x 2 m.
/// @param num_points of the field along a side
/// @param relief     height of the peaks [m]; 0: flat
/// @param height     of the sole above the peaks [m]
/// @param every      every n-th point of a row is a peak
Scene make_foot(int num_points, double relief, double height, int every = 2) {
  std::string elevation;
  for (int row = 0; row < num_points; ++row)
    for (int column = 0; column < num_points; ++column)
      elevation += relief > 0 && (row + column) % every == 0 ? "1 " : "0 ";
  const std::string n = std::to_string(num_points);
  return Scene(support::make_mjcf(
      R"(timestep="0.002")",
      R"(<asset><hfield name="h" nrow=")" + n + R"(" ncol=")" + n + R"(" size="1 1 )" +
          std::to_string(relief > 0 ? relief : 1e-3) + R"( 0.1" elevation=")" + elevation +
          R"("/></asset><worldbody><geom name="ground" type="hfield" hfield="h"/>
<body pos="0.013 0.021 )" +
          std::to_string(0.05 + relief + height) + R"("><freejoint/>
  <geom name="foot" type="box" size="0.12 0.08 0.05" mass="2"/></body></worldbody>)"));
}

struct Outcome {
  int count = 0;
  std::string text;
};

Outcome step(Scene* scene, contact::ContactModel model = contact::ContactModel::coulomb) {
  StepOptions options = make_options(model);
  if (model == contact::ContactModel::viscous) options.integrator = Integrator::rk4;
  Stepper stepper(scene->model, options);
  const StepReport& report = stepper.step(scene->data, 3);
  EXPECT_TRUE(report.ok()) << report.message;
  const WarningReport& warning = report.warnings[static_cast<int>(WarningKind::contact_list)];
  return {warning.count, warning.text};
}

TEST(ContactListWarning, NamesGeomsWithMoreContactsThanMujocoKeeps) {
  for (const auto model : {contact::ContactModel::coulomb, contact::ContactModel::no_slip,
                           contact::ContactModel::viscous}) {
    Scene scene = make_foot(80, 2e-5, -1e-6);
    const Outcome outcome = step(&scene, model);
    EXPECT_GE(outcome.count, 1);
    EXPECT_NE(outcome.text.find("'ground' and geom 'foot' touch at 50 points or more"),
              std::string::npos)
        << outcome.text;
    EXPECT_NE(outcome.text.find("coarser cells"), std::string::npos);
  }
}

/// On a field that is flat under the foot, the contacts are those of its plane.
TEST(ContactListWarning, IsSilentWhereAllContactsAreKnown) {
  Scene flat = make_foot(80, 0, -1e-6);
  EXPECT_EQ(step(&flat).count, 0);
  Scene coarse = make_foot(20, 2e-5, -1e-6);
  EXPECT_EQ(step(&coarse).count, 0);
  Scene rough = make_foot(80, 0.02, -1e-6, 16);  // the foot touches a few peaks
  EXPECT_EQ(step(&rough).count, 0);
  Scene above = make_foot(80, 2e-5, 1e-3);  // it does not touch yet
  EXPECT_EQ(step(&above).count, 0);
}

/// With a contact filter, the contacts are MuJoCo's.
TEST(ContactListWarning, SpeaksOnFlatGroundIfAFilterLeavesTheListAsItIs) {
  Scene flat = make_foot(80, 0, -1e-6);
  mjcb_contactfilter = [](const mjModel*, mjData*, int, int) { return 0; };
  const Outcome outcome = step(&flat);
  mjcb_contactfilter = nullptr;
  EXPECT_GE(outcome.count, 1);
}

}  // namespace
}  // namespace stiction::sim::contact_list_warning_test
