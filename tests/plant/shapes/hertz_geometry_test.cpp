#include "stiction/plant/shapes/local_shape.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stiction::plant::hertz_geometry_test {
namespace {

using support::Scene;

/// Returns the curvature at each contact of two geoms that overlap. The second geom can move.
std::vector<HertzCurvature> calc_curvatures(const std::string& first, const std::string& second) {
  Scene scene(support::make_mjcf("", "<worldbody><geom " + first + "/><body><freejoint/><geom " +
                                         second + "/></body></worldbody>"));
  mj_forward(scene.model, scene.data);
  std::vector<HertzCurvature> out;
  for (int i = 0; i < scene.data->ncon; ++i)
    out.push_back(calc_hertz_curvature(scene.model, scene.data, scene.data->contact[i]));
  return out;
}

/// Checks the curvature of two geoms that touch in one point.
void expect_curvature(const std::string& first, const std::string& second, double least,
                      double most, double tolerance = 1e-9) {
  const auto found = calc_curvatures(first, second);
  ASSERT_EQ(found.size(), 1) << first << " | " << second;
  EXPECT_NEAR(found[0].least, least, tolerance * least) << first << " | " << second;
  EXPECT_NEAR(found[0].most, most, tolerance * most) << first << " | " << second;
  EXPECT_FALSE(found[0].is_rounded) << first << " | " << second;
  EXPECT_FALSE(found[0].is_crowned) << first << " | " << second;
}

const std::string kBall = R"(size="0.1")", kPlane = R"(type="plane" size="1 1 1")";

TEST(HertzGeometry, SumsCurvaturesOfTheSurfaces) {
  expect_curvature(kBall, R"(size="0.05" pos="0.1 0.1 0.02")", 30, 30);
  expect_curvature(kPlane, R"(size="0.05" pos="0 0 0.049")", 20, 20);
  expect_curvature(R"(type="box" size="0.3 0.3 0.3")", R"(size="0.05" pos="0.1 0.2 0.349")", 20,
                   20);
  expect_curvature(R"(type="cylinder" size="0.2 0.3")", R"(size="0.05" pos="0.249 0 0.1")", 20, 25);
  expect_curvature(R"(type="cylinder" size="0.2 0.3")", R"(size="0.05" pos="0.05 0 0.349")", 20,
                   20);
  expect_curvature(R"(type="capsule" size="0.2 0.3")", R"(size="0.05" pos="0.249 0 0.1")", 20, 25);
  // The end of a capsule is a ball.
  expect_curvature(R"(type="capsule" size="0.2 0.3")", R"(size="0.05" pos="0 0 0.549")", 25, 25);
}

TEST(HertzGeometry, OfAnEllipsoidIsItsSecondFundamentalForm) {
  // On a plane at the end of the axis c the radii of curvature are a^2/c and b^2/c.
  expect_curvature(kPlane, R"(type="ellipsoid" size="0.3 0.2 0.1" pos="0 0 0.0999")", 0.1 / 0.09,
                   0.1 / 0.04, 1e-6);
}

TEST(HertzGeometry, OfCrossedCapsulesDependsOnTheAngle) {
  // Hertz: k1 + k2 = 1/R1 + 1/R2 and (k2 - k1)^2 = 1/R1^2 + 1/R2^2 + 2 cos(2 angle)/(R1 R2).
  const double R1 = 0.03, R2 = 0.05;
  for (const double angle_deg : {20.0, 45.0, 70.0, 90.0}) {
    const double angle = angle_deg * std::numbers::pi / 180;
    const double sum = 1 / R1 + 1 / R2;
    const double difference =
        std::sqrt(1 / (R1 * R1) + 1 / (R2 * R2) + 2 * std::cos(2 * angle) / (R1 * R2));
    char zaxis[80];
    std::snprintf(zaxis, sizeof zaxis, "zaxis=\"%.15g %.15g 0\"", std::cos(angle), std::sin(angle));
    expect_curvature(R"(type="capsule" size="0.03 0.3" zaxis="1 0 0")",
                     R"(type="capsule" size="0.05 0.3" pos="0 0 0.079" )" + std::string(zaxis),
                     (sum - difference) / 2, (sum + difference) / 2, 1e-6);
  }
}

TEST(HertzGeometry, CrownsLinesAndFaces) {
  // A cylinder that lies on a plane: the crown falls by 0.1 mm over half its length of 0.2 m.
  for (const HertzCurvature& line : calc_curvatures(
           kPlane, R"(type="cylinder" size="0.05 0.2" euler="0 90 0" pos="0 0 0.0499")")) {
    EXPECT_TRUE(line.is_crowned);
    EXPECT_NEAR(line.least, 2 * 1e-4 / (0.2 * 0.2), 1e-12);
    EXPECT_NEAR(line.most, 20, 1e-9);
  }
  // Capsules that cross at 0.01 rad take the crown of the shorter one. Their own relative curvature
  // is angle^2/(R1 + R2) = 0.0005/m.
  const auto crossed = calc_curvatures(R"(type="capsule" size="0.1 0.5" zaxis="1 0 0")",
                                       R"(type="capsule" size="0.1 0.3" zaxis="1 0.01 0"
                                          pos="0 0 0.1999")");
  ASSERT_EQ(crossed.size(), 1);
  EXPECT_TRUE(crossed[0].is_crowned);
  EXPECT_NEAR(crossed[0].least, 2 * 1e-4 / (0.3 * 0.3), 1e-12);
}

TEST(HertzGeometry, RoundsEdgesAndCorners) {
  // The corner of a cube on a plane counts as a ball that is inscribed in the cube.
  const auto corner = calc_curvatures(
      kPlane, R"(type="box" size="0.1 0.1 0.1" axisangle="1 -1 0 54.7356103" pos="0 0 0.173")");
  ASSERT_FALSE(corner.empty());
  for (const HertzCurvature& at : corner) {
    EXPECT_TRUE(at.is_rounded);
    EXPECT_DOUBLE_EQ(at.least, 10);
    EXPECT_DOUBLE_EQ(at.most, 10);
  }
}

TEST(HertzGeometry, IsFiniteForAllShapesInAllPoses) {
  const char* shapes[] = {
      kBall.c_str(), R"(type="capsule" size="0.1 0.1")", R"(type="cylinder" size="0.1 0.1")",
      R"(type="ellipsoid" size="0.1 0.15 0.2")", R"(type="box" size="0.1 0.15 0.2")"};
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> angle(-180, 180);
  int num_contacts = 0;
  for (const char* first : shapes) {
    for (const char* second : shapes) {
      for (int trial = 0; trial < 20; ++trial) {
        std::string pose = R"( pos="0.12 0.1 0.08" euler=")";
        for (int i = 0; i < 3; ++i) pose += std::to_string(angle(rng)) + " ";
        for (const HertzCurvature& at : calc_curvatures(first, second + pose + "\"")) {
          EXPECT_GT(at.least, 0);
          EXPECT_LE(at.least, at.most);
          // The curvature is nowhere greater than that of two edges that are rounded with 0.1 m, or
          // of an ellipsoid's tip, 0.2/0.1^2 = 20/m.
          EXPECT_LE(at.most, 40 * (1 + 1e-9));
          EXPECT_TRUE(std::isfinite(calc_hertz_factor(at)));
          ++num_contacts;
        }
      }
    }
  }
  EXPECT_GT(num_contacts, 300);
}

TEST(HertzGeometry, TypicalCurvatureIsThatOfTheStepForConstantShapes) {
  const Scene scene(support::make_mjcf("", R"(<worldbody><geom type="plane" size="1 1 1"/>
<geom size="0.05"/><geom type="capsule" size="0.03 0.2"/></worldbody>)"));
  EXPECT_TRUE(has_constant_curvature(scene.model, 0));
  EXPECT_TRUE(has_constant_curvature(scene.model, 1));
  EXPECT_FALSE(has_constant_curvature(scene.model, 2));
  const HertzCurvature on_plane = find_typical_hertz_curvature(scene.model, 0, 1);
  EXPECT_DOUBLE_EQ(on_plane.least, 20);
  EXPECT_DOUBLE_EQ(on_plane.most, 20);
  const HertzCurvature on_side = find_typical_hertz_curvature(scene.model, 1, 2);
  EXPECT_DOUBLE_EQ(on_side.least, 20);
  EXPECT_DOUBLE_EQ(on_side.most, 20 + 1 / 0.03);
}

}  // namespace
}  // namespace stiction::plant::hertz_geometry_test
