// Sensors with taxels, made from declared grids and from MuJoCo's tactile sensors.
#include "stiction/plant/patches/taxel_sensors.hpp"

#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stiction::plant::taxel_sensors_test {
namespace {

using math::Vec3;
using support::Scene;

constexpr double kRounding = 1e-15;

void expect_near(const Vec3& a, const Vec3& b, double tolerance = kRounding) {
  EXPECT_LT(norm(a - b), tolerance);
}

TEST(TaxelGrid, HasItsTaxelsRowByRow) {
  const TaxelSensor sensor = make_taxel_sensor({.name = "tip",
                                                .geom = 3,
                                                .pos = {0, 0, 0.5},
                                                .normal = {0, 2, 0},
                                                .first_axis = {0, 7, 1},
                                                .size = {0.4, 0.6},
                                                .shape = {2, 3}});
  ASSERT_EQ(sensor.size(), 6);
  EXPECT_EQ(sensor.geoms, std::vector<int>{3});
  EXPECT_DOUBLE_EQ(sensor.areas[4], 0.04);
  // The first axis is made perpendicular to the normal: it is z. The second axis is y x z = x.
  expect_near(sensor.X_GS * sensor.positions[0], {-0.2, 0, 0.4});
  expect_near(sensor.X_GS * sensor.positions[1], {0, 0, 0.4});
  expect_near(sensor.X_GS * sensor.positions[3], {-0.2, 0, 0.6});
  expect_near(sensor.X_GS.R * sensor.frames[5].normal, {0, 1, 0});
  expect_near(sensor.X_GS.R * sensor.frames[5].shear1, {0, 0, 1});
  expect_near(sensor.X_GS.R * sensor.frames[5].shear2, {1, 0, 0});
}

Scene make_tactile_scene(const std::string& mesh) {
  return Scene(support::make_mjcf(
      "",
      "<asset><mesh name='skin' " + mesh +
          "/></asset><worldbody><geom name='floor' type='plane' size='1 1 1'/><body name='hand'>"
          "<freejoint/><geom name='palm' size='0.01'/><geom name='skin' type='mesh' mesh='skin' "
          "contype='0' conaffinity='0'/>"
          "<body name='rigid'><geom name='fixed' size='0.01'/></body>"
          "<body name='joint'><joint/><geom name='moved' size='0.01'/></body></body></worldbody>"
          "<sensor><clock/><tactile name='touch' geom='skin' mesh='skin'/></sensor>"));
}

TEST(TactileSensor, ReadsTheVerticesOfAPlate) {
  const Scene scene = make_tactile_scene("builtin='plate' params='4 3' scale='0.02 0.015 0.01'");
  const std::vector<TaxelSensor> sensors = read_tactile_sensors(scene.model);
  ASSERT_EQ(sensors.size(), 1u);
  const TaxelSensor& sensor = sensors[0];
  ASSERT_EQ(sensor.size(), 12);
  EXPECT_EQ(sensor.name, "touch");
  EXPECT_EQ(sensor.sensor, scene.sensor("touch"));
  EXPECT_EQ(sensor.geoms,
            (std::vector<int>{scene.geom("palm"), scene.geom("skin"), scene.geom("fixed")}));
  // The plate has 3 x 2 fields of 10 mm x 10 mm; vertices are floats.
  EXPECT_NEAR(std::accumulate(sensor.areas.begin(), sensor.areas.end(), 0.0), 0.03 * 0.02, 1e-9);
  for (const TaxelFrame& frame : sensor.frames) {
    EXPECT_NEAR(norm(cross(frame.shear1, frame.shear2) - frame.normal), 0, 1e-12);
    // MuJoCo's axes of the plate, in the frame of the geom.
    expect_near(frame.normal, sensor.frames[0].normal, 1e-6);
    expect_near(frame.shear1, sensor.frames[0].shear1, 1e-6);
  }
  // All vertices are in one plane across the normal.
  for (const Vec3& x : sensor.positions)
    EXPECT_NEAR(dot(x - sensor.positions[0], sensor.frames[0].normal), 0, 1e-9);
}

TEST(TactileSensor, ReadsAClosedMeshWithOutwardNormals) {
  const Scene scene = make_tactile_scene("builtin='sphere' params='2' scale='0.02 0.02 0.02'");
  const TaxelSensor sensor = read_tactile_sensors(scene.model).at(0);
  ASSERT_EQ(sensor.size(), scene->mesh_vertnum[0]);
  double area = 0;
  for (int i = 0; i < sensor.size(); ++i) {
    area += sensor.areas[i];
    // Normals are means of triangles. Measured: 0.0236 on this sphere of 320 triangles.
    expect_near(sensor.frames[i].normal, sensor.positions[i] * (1 / 0.02), 0.03);
    EXPECT_NEAR(norm(sensor.frames[i].shear1), 1, 1e-12);
  }
  EXPECT_NEAR(area, 4 * M_PI * 0.02 * 0.02, 0.05 * 4 * M_PI * 0.02 * 0.02);  // of the polyhedron
}

TEST(TactileSensor, WithoutANameIsNamedByItsId) {
  const Scene scene(support::make_mjcf(
      "",
      "<asset><mesh name='skin' builtin='plate' params='4 3' scale='0.02 0.015 "
      "0.01'/></asset><worldbody>"
      "<geom name='skin' type='mesh' mesh='skin' contype='0' conaffinity='0'/><geom "
      "size='0.01'/></worldbody><sensor>"
      "<tactile geom='skin' mesh='skin'/><tactile name='touch' geom='skin' mesh='skin'/>"
      "<tactile geom='skin' mesh='skin'/><clock name='#0'/></sensor>"));
  std::vector<std::string> names;
  for (const TaxelSensor& sensor : read_tactile_sensors(scene.model)) names.push_back(sensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"##0", "touch", "#2"}));
}

TEST(TactileSensor, IsMissingInAModelWithoutOne) {
  const Scene scene(support::make_mjcf("", "<worldbody><geom size='1'/></worldbody>"));
  EXPECT_TRUE(read_tactile_sensors(scene.model).empty());
}

}  // namespace
}  // namespace stiction::plant::taxel_sensors_test
