#include "stiction/plant/collision/gap_acceleration.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stiction::plant::gap_acceleration_test {
namespace {

using support::make_mjcf;
using support::Scene;

/// Returns a contact of two geoms at the nearest points that MuJoCo's exact distance gives.
mjContact make_contact(const Scene& scene, int geom1, int geom2) {
  mjtNum ends[6];
  mjContact con{};
  con.geom[0] = geom1;
  con.geom[1] = geom2;
  con.dist = mj_geomDistance(scene.model, scene.data, geom1, geom2, 10, ends);
  for (int i = 0; i < 3; ++i) {
    con.pos[i] = 0.5 * (ends[i] + ends[3 + i]);
    con.frame[i] = (ends[3 + i] - ends[i]) / con.dist;
  }
  return con;
}

double calc_distance_at(const Scene& scene, double time, int geom1, int geom2) {
  Scene other(scene);
  if (time != 0) mj_integratePos(other.model, other.data->qpos, other.data->qvel, time);
  mj_kinematics(other.model, other.data);
  return mj_geomDistance(other.model, other.data, geom1, geom2, 10, nullptr);
}

double calc_gap_acceleration(const Scene& scene, const mjContact& con) {
  GapAcceleration acceleration;
  acceleration.calc_bodies(scene.model, scene.data);
  return acceleration.calc(scene.model, scene.data, con);
}

void forward(Scene& scene) {
  scene->opt.ccd_tolerance = 1e-14;
  scene->opt.ccd_iterations = 500;
  mj_forward(scene.model, scene.data);
}

TEST(GapAcceleration, RollingSphereStaysOnItsPlane) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.1"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  scene.data->qvel[0] = 2;
  scene.data->qvel[4] = 20;
  scene.data->qvel[3] = 7;
  forward(scene);
  ASSERT_EQ(scene.data->ncon, 1);
  EXPECT_NEAR(calc_gap_acceleration(scene, scene.data->contact[0]), 0, 1e-12);
}

/// The gap accelerates by v^2 / r, the centripetal acceleration of a straight path, at any spin.
TEST(GapAcceleration, GapOfTwoSpheresAcceleratesBySpeedSquaredOverRadius) {
  Scene scene(make_mjcf("", R"(<worldbody><geom size="0.3"/>
<body pos="0 0 0.4"><freejoint/><geom size="0.1"/></body></worldbody>)"));
  scene.data->qvel[0] = 2;
  scene.data->qvel[4] = 20;
  forward(scene);
  ASSERT_EQ(scene.data->ncon, 1);
  EXPECT_NEAR(calc_gap_acceleration(scene, scene.data->contact[0]), 4 / 0.4, 1e-9);
}

/// The corner of a box on a plane, while the box turns about its center. The acceleration is w^2
/// times the height of the center above the corner.
TEST(GapAcceleration, CornerIsAMaterialPoint) {
  Scene scene(make_mjcf("", R"(<worldbody><geom type="plane" size="9 9 1" margin="0.05"/>
<body pos="0 0 0.15" euler="0 30 0"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody>)"));
  scene.data->qvel[4] = 3;
  forward(scene);
  ASSERT_EQ(scene.data->ncon, 2);
  for (int i = 0; i < scene.data->ncon; ++i) {
    const mjContact& con = scene.data->contact[i];
    EXPECT_NEAR(calc_gap_acceleration(scene, con), 9 * (0.15 - con.dist), 1e-9);
  }
}

std::string make_geom(const std::string& type) {
  const std::string size = type == "sphere"      ? "0.1"
                           : type == "capsule"   ? "0.05 0.1"
                           : type == "ellipsoid" ? "0.05 0.08 0.12"
                           : type == "cylinder"  ? "0.06 0.1"
                           : type == "box"       ? "0.05 0.07 0.1"
                                                 : "";
  return "<geom pos=\"0.02 0.01 0\" type=\"" + type + "\" " +
         (size.empty() ? "mesh=\"wedge\"" : "size=\"" + size + "\"") + "/>";
}

/// Returns a scene of a free body over an arm with a ball joint and a hinge.
Scene make_pair(const std::string& first, const std::string& second) {
  return Scene(make_mjcf(
      "",
      R"(<asset><mesh name="wedge" vertex="0 0 0 0.2 0 0 0 0.1 0 0 0 0.1 0.1 0.1 0.1"/></asset>
<worldbody><body pos="0 0 0.3"><freejoint/>)" +
          make_geom(first) +
          R"(</body><body pos="0.1 0.2 -0.2"><joint type="ball"/><geom size="0.01" contype="0" conaffinity="0"/>
<body pos="-0.1 -0.2 0.2"><joint axis="0 1 0" pos="0.05 0 0"/>)" +
          make_geom(second) + "</body></body></worldbody>"));
}

/// Compares with the second difference of MuJoCo's distance along mj_integratePos, for every pair
/// of shapes and all combinations of faces, edges, corners and sides.
TEST(GapAcceleration, IsTheSecondDerivativeOfTheDistance) {
  const char* const kTypes[] = {"sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"};
  std::mt19937_64 rng(11);
  std::normal_distribution<double> normal;
  constexpr double kStep = 2e-4;
  int num_checked = 0, num_skipped = 0;
  for (const char* first : kTypes) {
    for (const char* second : kTypes) {
      for (int trial = 0; trial < 30; ++trial) {
        Scene scene = make_pair(first, second);
        for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = 2 * normal(rng);
        mj_integratePos(scene.model, scene.data->qpos, scene.data->qvel, 0.2);
        for (int i = 0; i < scene->nv; ++i) scene.data->qvel[i] = normal(rng);
        forward(scene);
        if (calc_distance_at(scene, 0, 0, 2) < 0.01) continue;
        const auto second_difference = [&](double h) {
          return (calc_distance_at(scene, h, 0, 2) - 2 * calc_distance_at(scene, 0, 0, 2) +
                  calc_distance_at(scene, -h, 0, 2)) /
                 (h * h);
        };
        // Skip poses where the nearest features change within the difference.
        const double coarse = second_difference(2 * kStep), fine = second_difference(kStep);
        const double size = 1 + std::abs(fine);
        if (std::abs(coarse - fine) > 1e-3 * size) {
          ++num_skipped;
          continue;
        }
        ++num_checked;
        const mjContact con = make_contact(scene, 0, 2);
        EXPECT_NEAR(calc_gap_acceleration(scene, con), fine, 5e-3 * size)
            << first << " over " << second << ", trial " << trial << ", distance " << con.dist;
      }
    }
  }
  EXPECT_GT(num_checked, 500);
  EXPECT_LT(num_skipped, num_checked / 5);
}

}  // namespace
}  // namespace stiction::plant::gap_acceleration_test
