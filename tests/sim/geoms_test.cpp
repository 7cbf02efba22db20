// Bodies of every geom type come to rest on a floor and on a height field, which carry their
// weight.
#include <cmath>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/stepping.hpp"

namespace stiction::sim {
namespace {

using support::Scene;

struct GeomCase {
  const char* name;
  const char* geom;
};
void PrintTo(const GeomCase& c, std::ostream* out) { *out << c.name; }

// Their centers come to rest at a height of 0.1 m.
constexpr GeomCase kGeoms[] = {
    {"sphere", R"(size="0.1")"},
    {"capsule", R"(type="capsule" size="0.1 0.15" euler="90 0 0")"},
    {"cylinder", R"(type="cylinder" size="0.15 0.1")"},
    {"cylinder_lying", R"(type="cylinder" size="0.1 0.15" euler="90 0 0")"},
    {"ellipsoid", R"(type="ellipsoid" size="0.15 0.12 0.1")"},
    {"box", R"(type="box" size="0.12 0.1 0.1")"},
    {"mesh", R"(type="mesh" mesh="prism")"},
};

class Geoms : public testing::TestWithParam<std::tuple<contact::ContactModel, GeomCase, bool>> {};

TEST_P(Geoms, RestWhereTheirWeightIsCarried) {
  const auto& [model, geom, on_field] = GetParam();
  const std::string floor = on_field ? R"(<geom type="hfield" hfield="flat" pos="0 0 -0.5"/>)"
                                     : R"(<geom type="plane" size="5 5 1"/>)";
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(
<asset>
  <mesh name="prism" vertex="-.15 -.1 -.1  .15 -.1 -.1  -.15 .1 -.1  .15 .1 -.1  -.1 -.1 .1  .1 -.1 .1  -.1 .1 .1  .1 .1 .1"/>
  <hfield name="flat" nrow="5" ncol="5" size="1 1 1 0.1" elevation="1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0"/>
</asset>
<worldbody>)" + floor + R"(<body pos="0.13 0.07 0.1001"><freejoint/><geom mass="1.5" )" +
                                                            geom.geom +
                                                            R"(/></body></worldbody>)"));
  // The mesh's frame is at its center of mass, and a field's top at its highest elevation.
  if (on_field) scene.data->qpos[2] += 0.5;
  Stepper stepper(scene.model, make_options(model));
  run(&stepper, &scene, 500);
  const double start = scene.data->qvel[2];
  double impulse = 0;
  for (int i = 0; i < 500; ++i) {
    const StepReport& report = stepper.step(scene.data);
    ASSERT_TRUE(report.ok()) << report.message;
    for (int c = 0; c < report.contacts.size(); ++c) impulse += report.contacts.impulse[3 * c + 2];
  }
  EXPECT_NEAR(impulse, 1.5 * (9.81 * 500 * 0.002 + scene.data->qvel[2] - start), 1e-3);
  // MuJoCo finds three points of a box on a field, others in each step: it rattles.
  EXPECT_LE(mju_norm3(scene.data->qvel), on_field ? 0.3 : 1e-3);
  EXPECT_NEAR(scene.data->geom_xpos[5], on_field ? 0.6 : 0.1, 0.015);
}

INSTANTIATE_TEST_SUITE_P(All, Geoms,
                         testing::Combine(testing::ValuesIn(compliant_models()),
                                          testing::ValuesIn(kGeoms), testing::Bool()),
                         [](const auto& info) {
                           return std::string(contact::traits(std::get<0>(info.param)).name) + "_" +
                                  std::get<1>(info.param).name +
                                  (std::get<2>(info.param) ? "_on_hfield" : "_on_plane");
                         });

}  // namespace
}  // namespace stiction::sim
