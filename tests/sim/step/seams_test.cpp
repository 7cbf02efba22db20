// Bodies slide over floors that are made of several geoms as they slide over one plane, and what
// passes beside an edge feels nothing.
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

/// A mesh of the same vertices as a box.
std::string make_mesh(const char* name, double x, double y, double z) {
  std::string vertices;
  for (int i = 0; i < 8; ++i)
    vertices += std::to_string(i & 1 ? x : -x) + ' ' + std::to_string(i & 2 ? y : -y) + ' ' +
                std::to_string(i & 4 ? z : -z) + "  ";
  return std::string("<mesh name=\"") + name + "\" vertex=\"" + vertices + "\"/>";
}

std::string make_assets(const std::string& more) {
  return "<asset>" + more + make_mesh("block", .06, .06, .04) + make_mesh("tile", .1, .5, .05) +
         R"(<hfield name="field" nrow="4" ncol="40" size="2 2 .1 .1"/></asset>)";
}

constexpr const char* kPlane = R"(<geom type="plane" size="9 9 1" friction=".3"/>)";
constexpr const char* kField = R"(<geom type="hfield" hfield="field" friction=".3"/>)";

/// Tiles of 0.2 m, whose tops are at the height 0.
/// @param step every second tile is lower by this
std::string make_tiles(const std::string& shape, double step = 0) {
  std::string tiles;
  for (int i = -2; i < 10; ++i)
    tiles += "<geom " + shape + R"( friction=".3" pos=")" + std::to_string(0.2 * i) + " 0 " +
             std::to_string(-.05 - (i % 2 ? step : 0)) + "\"/>";
  return tiles;
}

struct Floor {
  const char* name;
  std::string geoms;
  std::string assets = "";
  double error = 0.01;  // relative to the plane's way and spin
};
constexpr const char* kBoxTile = R"(type="box" size=".1 .5 .05")";

/// Prisms with triangles of different shapes, as a convex decomposition makes them.
Floor make_prisms() {
  Floor floor{.name = "prisms", .geoms = "", .error = 0.025};
  constexpr int kNumRows = 12, kNumColumns = 3;
  constexpr double kY[] = {-.5, -.1, .13, .5};
  const auto x = [](int i, int j) { return -.4 + .2 * i + .04 * std::sin(7. * i + 3 * j); };
  for (int i = 0; i < kNumRows; ++i)
    for (int j = 0; j < kNumColumns; ++j)
      for (const bool is_first : {true, false}) {
        std::string vertices;
        for (const double z : {0.0, -.05})
          for (const auto& [a, b] :
               {std::pair(i, j), is_first ? std::pair(i + 1, j) : std::pair(i, j + 1),
                std::pair(i + 1, j + 1)})
            vertices += std::to_string(x(a, b)) + ' ' + std::to_string(kY[b]) + ' ' +
                        std::to_string(z) + "  ";
        const std::string name = std::to_string(2 * (i * kNumColumns + j) + is_first);
        floor.assets += "<mesh name=\"" + name + "\" vertex=\"" + vertices + "\"/>";
        floor.geoms += R"(<geom type="mesh" friction=".3" mesh=")" + name + "\"/>";
      }
  return floor;
}

/// Floors at the height 0.
std::vector<Floor> make_flush_floors() {
  return {{"tiles", make_tiles(kBoxTile)},
          {"meshes", make_tiles(R"(type="mesh" mesh="tile")")},
          {"height field", kField},
          make_prisms()};
}

struct End {
  double way, spin;  // along x [m], norm of the angular velocity [rad/s]
};

class Seams : public testing::TestWithParam<std::tuple<contact::ContactModel, Slider>> {
 protected:
  static End slide(const Floor& floor, double speed, double angle, double time_step) {
    const auto& [model, slider] = GetParam();
    Scene scene(support::make_mjcf("timestep=\"" + std::to_string(time_step) + '"',
                                   make_assets(floor.assets) + "<worldbody>" + floor.geoms +
                                       "<body pos=\"0 0 " + std::to_string(slider.height) +
                                       R"("><freejoint/><geom mass="1" friction=".3" )" +
                                       slider.geom + "/></body></worldbody>"));
    scene.data->qvel[0] = speed * std::cos(angle);
    scene.data->qvel[1] = speed * std::sin(angle);
    Stepper stepper(scene.model, make_options(model));
    const double duration = std::min(0.6, speed / (0.3 * 9.81));
    run(&stepper, &scene, static_cast<int>(std::lround(duration / time_step)));
    return {std::hypot(scene.data->qpos[0], scene.data->qpos[1]), mju_norm3(scene.data->qvel + 3)};
  }

  static void expect_like_plane(const Floor& floor, double speed, double angle, double time_step,
                                double limit) {
    const End plane = slide({"plane", kPlane}, speed, angle, time_step);
    const End end = slide(floor, speed, angle, time_step);
    constexpr double kSize = 0.05;
    EXPECT_NEAR(end.way, plane.way, limit * plane.way)
        << floor.name << ' ' << speed << " m/s at " << angle << ", " << time_step << " s";
    EXPECT_NEAR(end.spin, plane.spin, limit * speed / kSize)
        << floor.name << ' ' << speed << " m/s at " << angle << ", " << time_step << " s";
  }
};

// Friction takes the same way and gives the same spin as on a plane.
TEST_P(Seams, AreNotFelt) {
  for (const Floor& floor : make_flush_floors())
    for (const double time_step : {0.002, 0.01})
      for (const auto& [speed, angle] :
           {std::pair(0.3, 0.0), std::pair(2.0, 0.0), std::pair(2.0, 0.4), std::pair(3.0, 0.1)})
        expect_like_plane(floor, speed, angle, time_step, floor.error);
}

// Bodies climb the next tile where their floor sinks by 0.1 mm, and do not hit its side.
TEST_P(Seams, OfSmallStepsAreHardlyFelt) {
  const Floor floor{.name = "tiles with steps of 0.1 mm", .geoms = make_tiles(kBoxTile, 1e-4)};
  for (const double time_step : {5e-4, 0.002, 0.01})
    for (const auto& [speed, angle] :
         {std::pair(0.3, 0.0), std::pair(2.0, 0.0), std::pair(2.0, 0.4)})
      expect_like_plane(floor, speed, angle, time_step, 0.015);
}

// A servo pulls a box slowly over one step. It climbs it without a hop, at every speed and time
// step.
TEST(SmallSteps, AreClimbedSlowly) {
  for (const contact::ContactModel model :
       {contact::ContactModel::coulomb, contact::ContactModel::rigid_coulomb})
    for (const double time_step : {1e-4, 5e-4, 2e-3, 1e-2})
      for (const double speed : {0.05, 0.1, 0.4})
        for (const double height : {5e-6, 2e-5, 1e-4}) {
          Scene scene(support::make_mjcf(
              "timestep='" + std::to_string(time_step) + "'",
              "<worldbody><geom type='box' size='.5 .5 .05' pos='-.42 0 -.05' friction='.2'/>"
              "<geom type='box' size='.5 .5 .05' pos='.58 0 " +
                  std::to_string(-.05 + height) +
                  "' friction='.2'/><body pos='0 0 .03'><joint name='x' type='slide' axis='1 0 0'/>"
                  "<joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/><geom type='box' "
                  "size='.05 .05 .03' mass='1' friction='.2'/></body></worldbody><actuator>"
                  "<velocity joint='x' kv='1000'/></actuator>"));
          scene.data->ctrl[0] = speed;
          scene.data->qvel[0] = speed;
          Stepper stepper(scene.model, make_options(model));
          double highest = 0;
          for (int i = 0; i < std::lround(0.06 / speed / time_step); ++i) {
            run(&stepper, &scene);
            highest = std::max(highest, scene.data->qpos[1]);
          }
          EXPECT_LE(highest, height + 2e-4) << time_step << ' ' << speed << ' ' << height;
          // A servo lags by 2 mm/s under friction.
          EXPECT_NEAR(scene.data->qpos[0], 0.06, 0.003)
              << time_step << ' ' << speed << ' ' << height;
        }
}

// Narrow rails carry a box that slides on them.
TEST(NarrowSupport, CarriesABoxThatSlides) {
  for (const double time_step : {5e-4, 2e-3, 1e-2})
    for (const double width : {5e-5, 1e-4, 3e-4}) {
      std::string rails;
      for (const int sign : {-1, 1})
        rails += "<geom type='box' size='1 .05 .05' pos='.5 " +
                 std::to_string(sign * (.1 - width)) + " -.05' friction='.3'/>";
      Scene scene(
          support::make_mjcf("timestep='" + std::to_string(time_step) + "'",
                             "<worldbody>" + rails +
                                 "<body pos='0 0 .04'><freejoint/><geom type='box' "
                                 "size='.05 .05 .04' mass='1' friction='.3'/></body></worldbody>"));
      scene.data->qvel[0] = 1;
      Stepper stepper(scene.model, make_options(contact::ContactModel::coulomb));
      run(&stepper, &scene, static_cast<int>(0.4 / time_step));
      EXPECT_NEAR(scene.data->qpos[2], 0.04, 1e-4) << time_step << ' ' << width;
      EXPECT_NEAR(scene.data->qpos[0], 1 / (2 * 0.3 * 9.81), 0.01) << time_step << ' ' << width;
    }
}

std::string seam_name(
    const testing::TestParamInfo<std::tuple<contact::ContactModel, Slider>>& info) {
  return std::string(contact::traits(std::get<0>(info.param)).name) + '_' +
         std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Models, Seams,
                         testing::Combine(testing::Values(contact::ContactModel::coulomb,
                                                          contact::ContactModel::rigid_coulomb),
                                          testing::ValuesIn(kSliders)),
                         seam_name);

// Models that lift sliding bodies, under sap by 7 mm per m/s, come to a seam from above. Prisms are
// left out: they have more seams, and take up to a fifth of the way under sap.
class SeamsOfOtherModels : public Seams {};

TEST_P(SeamsOfOtherModels, AreHardlyFelt) {
  for (const Floor& floor : make_flush_floors())
    if (floor.assets.empty())
      for (const double speed : {0.3, 2.0}) expect_like_plane(floor, speed, 0, 0.002, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Models, SeamsOfOtherModels,
                         testing::Combine(testing::Values(contact::ContactModel::sap,
                                                          contact::ContactModel::similar),
                                          testing::ValuesIn(kSliders)),
                         seam_name);

class NearMiss : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, NearMiss, testing::ValuesIn(convex_models()), support::model_name);

// A ball and a box fly past the edge of a block at a distance of 0.5 mm, towards the block's side
// and top until they are beside it.
TEST_P(NearMiss, HasNoForce) {
  for (const char* geom : {R"(size=".02")", R"(type="box" size=".02 .02 .02")"}) {
    for (const double speed : {0.5, 3.0, 10.0}) {
      Scene scene(support::make_mjcf(R"(timestep="0.002" gravity="0 0 0")",
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

/// Returns how deep bodies have been in each other at most [m].
double find_deepest(Stepper* stepper, Scene* scene, int num_steps) {
  double deepest = 0;
  for (int i = 0; i < num_steps; ++i) {
    run(stepper, scene);
    mj_fwdPosition(scene->model, scene->data);
    for (int c = 0; c < scene->data->ncon; ++c)
      deepest = std::max(deepest, -scene->data->contact[c].dist);
  }
  return deepest;
}

class Turning : public testing::TestWithParam<contact::ContactModel> {};
INSTANTIATE_TEST_SUITE_P(Models, Turning, testing::ValuesIn(convex_models()), support::model_name);

// Points of bodies that turn move along arcs of up to 0.4 rad in a step. A link and a bar enter a
// block no deeper than a plane.
TEST_P(Turning, BodiesEnterABlockAsLittleAsAPlane) {
  constexpr const char* kBodies[] = {
      R"(<body pos="-.3 0 .05"><joint axis="0 1 0"/>
  <geom type="capsule" fromto=".05 0 0 .4 0 0" size=".02" euler="0 -40 0" mass=".3"/></body>)",
      R"(<body pos="0 0 .25" euler="0 50 0"><freejoint/>
  <geom type="box" size=".15 .02 .02" mass="1"/></body>)"};
  const std::string assets = "<asset>" + make_mesh("slab", .6, .6, .1) + "</asset>";
  for (const char* body : kBodies)
    for (const double turn : {0.02, 0.1, 0.2, 0.4}) {
      const double time_step = 0.01;
      const auto fall = [&](const char* floor) {
        Scene scene(support::make_mjcf(
            "timestep=\"" + std::to_string(time_step) + '"',
            assets + "<worldbody><geom friction=\".5\" " + floor + "/>" + body + "</worldbody>"));
        const int spin = scene->nv == 1 ? 0 : 4;  // about y
        scene.data->qvel[spin] = turn / time_step;
        Stepper stepper(scene.model, make_options(GetParam()));
        return find_deepest(&stepper, &scene, 60);
      };
      const double plane = fall(R"(type="plane" size="9 9 1")");
      for (const char* block : {R"(type="box" size=".6 .6 .1" pos="0 0 -.1")",
                                R"(type="mesh" mesh="slab" pos="0 0 -.1")"})
        EXPECT_LE(fall(block), plane + 2e-4) << body << ' ' << turn << ' ' << block;
    }
}

}  // namespace
}  // namespace stiction::sim::seams_test
