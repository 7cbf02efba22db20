// Bodies of every geom type come to rest on a floor and on a height field, which carry their
// weight.
#include <cmath>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"
#include "support/trials.hpp"

namespace stiction::sim::geoms_test {
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
  // MuJoCo finds three contact points of a box on a height field, and other points in each step, so
  // the box rattles.
  EXPECT_LE(mju_norm3(scene.data->qvel), on_field ? 0.3 : 1e-3);
  EXPECT_NEAR(scene.data->geom_xpos[5], on_field ? 0.6 : 0.1, 0.015);
}

/// Rounding tilts the can. MuJoCo's distance of a plane and a cylinder is then wrong by up to the
/// radius.
TEST(Can, ThatSlidesAndSpinsStaysOnTheFloor) {
  for (const auto model : {contact::ContactModel::coulomb, contact::ContactModel::viscous,
                           contact::ContactModel::rigid_coulomb}) {
    for (int seed = 0; seed < support::num_trials(10); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom type="plane" size="9 9 1" friction="0.4"/><body pos="0 0 0.05"><freejoint/>
<geom type="cylinder" size="0.1 0.05" mass="2" friction="0.4"/></body></worldbody>)"));
      mjtNum* v = scene.data->qvel;
      v[0] = 0.4 * std::cos(seed);
      v[1] = 0.3 * std::sin(3.0 * seed + 1);
      v[5] = std::cos(7.0 * seed + 2);
      Stepper stepper(scene.model, make_options(model));
      for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(stepper.step(scene.data).ok());
        ASSERT_LT(std::abs(v[2]), 1e-3) << "step " << i;
        for (int c = 0; c < scene.data->ncon; ++c)
          ASSERT_GT(scene.data->contact[c].dist, -1e-4) << "step " << i;
      }
    }
  }
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
}  // namespace stiction::sim::geoms_test
