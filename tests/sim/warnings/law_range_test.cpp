// The warning of contacts beyond the tables of a normal law.
#include <string>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "stiction/contact/law_tables.hpp"

namespace stiction::sim::law_range_test {
namespace {

using support::Scene;

constexpr int kKind = static_cast<int>(WarningKind::law_range);

class LawRange : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, LawRange, testing::ValuesIn(support::models_with_laws()),
                         model_name);

/// Drops a ball of 1 kg on a plane with a law, and returns the last warning; empty if there is
/// none.
std::string drop(contact::ContactModel model, const contact::NormalLawTable& table,
                 double speed = 0) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body pos="0 0 0.1"><joint type="slide" axis="0 0 1"/><geom name="ball" size="0.1" mass="1"/></body>
</worldbody>)"));
  scene.data->qvel[0] = -speed;
  StepOptions options = make_options(model);
  contact::set_law(table, &options.parameters);
  Stepper stepper(scene.model, options);
  const StepReport& report = stepper.step(scene.data, 500);
  EXPECT_TRUE(report.ok()) << report.message;
  return report.warnings[kKind].text;
}

TEST_P(LawRange, ALoadWithinTheTableIsSilent) {
  // Without dissipation the ball would bounce to twice the depth at rest.
  EXPECT_EQ(drop(GetParam(), {.penetration = {0, 1e-3, 4e-3}, .force = {0, 10, 60}}), "");
}

TEST_P(LawRange, ALoadBeyondTheTableWarns) {
  const std::string text =
      drop(GetParam(), {.penetration = {0, 1e-4, 2e-4}, .force = {0, 1, 2}, .dissipation = 5});
  EXPECT_NE(text.find("geom 'ball'"), std::string::npos) << text;
  EXPECT_NE(text.find("table of the normal law ends at 0.0002 m"), std::string::npos) << text;
}

TEST_P(LawRange, ARateBeyondTheTableWarns) {
  const contact::NormalLawTable table = {.penetration = {0, 0.05, 0.1},
                                         .force = {0, 5e3, 1e4},
                                         .rate = {-1, 0, 0.5},
                                         .factor = {0.5, 1, 1.5}};
  EXPECT_EQ(drop(GetParam(), table), "");
  const std::string text = drop(GetParam(), table, 3);
  EXPECT_NE(text.find("a rate of"), std::string::npos) << text;
  EXPECT_NE(text.find("ends at 0.5 m/s"), std::string::npos) << text;
}

}  // namespace
}  // namespace stiction::sim::law_range_test
