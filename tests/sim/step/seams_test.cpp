// Bodies slide over floors that are made of several geoms as they slide over one plane, and what
// passes beside an edge feels nothing.
#include <cmath>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::seams_test {
namespace {

using support::Scene;

struct Slider {
  const char* name;
  const char* geom;
  double height;  // of its center [m]
};
void PrintTo(const Slider& slider, std::ostream* out) { *out << slider.name; }

constexpr Slider kSliders[] = {
    {"box", R"(type="box" size=".06 .06 .04")", 0.04},
    {"turned_box", R"(type="box" size=".06 .05 .04" euler="0 0 30")", 0.04},
    {"mesh", R"(type="mesh" mesh="block")", 0.04},
    {"can", R"(type="cylinder" size=".05 .05")", 0.05},
    {"ball", R"(size=".05")", 0.05},
    {"roller", R"(type="cylinder" size=".05 .05" euler="90 0 0")", 0.05},
};

constexpr const char* kAssets = R"(<asset><mesh name="block" vertex="-.06 -.06 -.04  .06 -.06 -.04  -.06 .06 -.04
.06 .06 -.04  -.06 -.06 .04  .06 -.06 .04  -.06 .06 .04  .06 .06 .04"/></asset>)";

std::string make_plane() { return R"(<geom type="plane" size="9 9 1" friction=".3"/>)"; }

/// Tiles of 0.2 m, whose tops are at the height 0.
std::string make_tiles() {
  std::string tiles;
  for (int i = -2; i < 10; ++i)
    tiles += R"(<geom type="box" size=".1 .5 .05" friction=".3" pos=")" + std::to_string(0.2 * i) +
             R"( 0 -.05"/>)";
  return tiles;
}

struct End {
  double way, spin;  // along x [m], norm of the angular velocity [rad/s]
};

class Seams : public testing::TestWithParam<std::tuple<contact::ContactModel, Slider>> {
 protected:
  static End slide(const std::string& floor, double speed, double time_step, double duration) {
    const auto& [model, slider] = GetParam();
    Scene scene(support::make_mjcf(
        "timestep=\"" + std::to_string(time_step) + '"',
        kAssets + ("<worldbody>" + floor) + R"(<body pos="0 0 )" + std::to_string(slider.height) +
            R"("><freejoint/><geom mass="1" friction=".3" )" + slider.geom +
            "/></body></worldbody>"));
    scene.data->qvel[0] = speed;
    Stepper stepper(scene.model, make_options(model));
    run(&stepper, &scene, static_cast<int>(std::lround(duration / time_step)));
    const mjtNum* w = scene.data->qvel + 3;
    return {scene.data->qpos[0], mju_norm3(w)};
  }
};

TEST_P(Seams, AreNotFelt) {
  for (const double time_step : {0.001, 0.002, 0.01}) {
    for (const double speed : {0.3, 2.0}) {
      const double duration = std::min(0.6, speed / (0.3 * 9.81));
      const End plane = slide(make_plane(), speed, time_step, duration);
      const End tiles = slide(make_tiles(), speed, time_step, duration);
      EXPECT_NEAR(tiles.way, plane.way, 0.01 * plane.way) << speed << " m/s, " << time_step << " s";
      EXPECT_NEAR(tiles.spin, plane.spin, 0.01 * std::max(1.0, plane.spin))
          << speed << " m/s, " << time_step << " s";
    }
  }
}

std::string seam_name(const testing::TestParamInfo<std::tuple<contact::ContactModel, Slider>>& info) {
  return std::string(contact::traits(std::get<0>(info.param)).name) + '_' +
         std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Models, Seams,
                         testing::Combine(testing::ValuesIn(convex_models()),
                                          testing::ValuesIn(kSliders)),
                         seam_name);

class NearMiss : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, NearMiss, testing::ValuesIn(convex_models()), support::model_name);

// A ball and a box fly past the edge of a block at a distance of 0.5 mm, towards the block's side and
// top until they are beside it.
TEST_P(NearMiss, HasNoForce) {
  for (const char* geom : {R"(size=".02")", R"(type="box" size=".02 .02 .02")"}) {
    for (const double speed : {0.5, 3.0, 10.0}) {
      Scene scene(support::make_mjcf(
          R"(timestep="0.002" gravity="0 0 0")",
          std::string(R"(<worldbody><geom type="box" size=".1 .1 .1"/>
<body pos=".1205 0 .16"><freejoint/><geom mass="1" )") +
              geom + "/></body></worldbody>"));
      scene.data->qvel[2] = -speed;
      Stepper stepper(scene.model, make_options(GetParam()));
      run(&stepper, &scene, static_cast<int>(0.3 / speed / 0.002));
      EXPECT_EQ(scene.data->qvel[0], 0) << geom << ' ' << speed;
      EXPECT_EQ(scene.data->qvel[2], -speed) << geom << ' ' << speed;
    }
  }
}

// A peg falls into a hole whose walls are 0.1 mm away.
TEST_P(NearMiss, APegFallsFreely) {
  Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
<geom type="box" size=".05 .2 .1" pos="-.0701 0 0"/><geom type="box" size=".05 .2 .1" pos=".0701 0 0"/>
<geom type="box" size=".2 .05 .1" pos="0 -.0701 0"/><geom type="box" size=".2 .05 .1" pos="0 .0701 0"/>
<body pos="0 0 .16"><freejoint/><geom mass="1" type="box" size=".02 .02 .05"/></body></worldbody>)"));
  Stepper stepper(scene.model, make_options(GetParam()));
  const int num_steps = 70;
  run(&stepper, &scene, num_steps);
  const double t = 0.002 * num_steps;
  EXPECT_NEAR(scene.data->qvel[2], -9.81 * t, 1e-9 * 9.81 * t);
}

}  // namespace
}  // namespace stiction::sim::seams_test
