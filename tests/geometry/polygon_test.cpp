#include "stiction/geometry/polygon.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace stiction::geometry::polygon_test {
namespace {

/// Returns the corners of the tetrahedron 0, ex, ey, ez with the pressure 1 + x + 2 y + 3 z.
std::array<PolygonVertex, 4> make_unit_tet() {
  return {{{Vec4{0, 0, 0, 1}, Vec4{}},
           {Vec4{1, 0, 0, 2}, Vec4{}},
           {Vec4{0, 1, 0, 3}, Vec4{}},
           {Vec4{0, 0, 1, 4}, Vec4{}}}};
}

TEST(Polygon, SectionsOfAllSignsTurnAboutTheGradient) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> size(0.1, 1);
  const auto tet = make_unit_tet();
  for (int signs = 0; signs < 16; ++signs) {
    Vec4 f;
    for (int i = 0; i < 4; ++i) f[i] = signs & 1 << i ? size(random) : -size(random);
    Polygon polygon;
    const bool is_cut = slice_tet(f, tet, &polygon);
    EXPECT_EQ(is_cut, signs != 0 && signs != 15);
    if (!is_cut) continue;
    Vec4 normal = {f[1] - f[0], f[2] - f[0], f[3] - f[0], 0};
    const double length =
        std::sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    normal /= math::broadcast_to<Vec4>(length);
    EXPECT_GT(calc_moments(polygon, normal).area, 0) << signs;
    const int num_positive = std::popcount(static_cast<unsigned>(signs));
    EXPECT_EQ(polygon.num_vertices, num_positive == 2 ? 4 : 3);
    for (int i = 0; i < polygon.num_vertices; ++i) {
      const Vec4& x = polygon.vertex[i].position_pressure;
      EXPECT_NEAR(f[0] + (f[1] - f[0]) * x[0] + (f[2] - f[0]) * x[1] + (f[3] - f[0]) * x[2], 0,
                  1e-15);
      EXPECT_NEAR(x[3], 1 + x[0] + 2 * x[1] + 3 * x[2], 1e-14);  // the linear pressure
    }
  }
}

TEST(Polygon, ZeroCountsAsNegative) {
  const auto tet = make_unit_tet();
  Polygon polygon;
  EXPECT_TRUE(slice_tet(Vec4{1, 0, 0, 0}, tet, &polygon));
  EXPECT_FALSE(slice_tet(Vec4{-1, 0, 0, 0}, tet, &polygon));
}

/// A square in z = 0 with corners at +-1, and its distances to four planes n . x = 1.1 whose
/// normals have these angles.
Polygon make_square(const std::array<double, 4>& angles) {
  Polygon polygon;
  polygon.num_vertices = 4;
  const double corner[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  for (int i = 0; i < 4; ++i) {
    polygon.vertex[i].position_pressure = Vec4{corner[i][0], corner[i][1], 0, 0};
    for (int k = 0; k < 4; ++k)
      polygon.vertex[i].distance[k] =
          corner[i][0] * std::cos(angles[k]) + corner[i][1] * std::sin(angles[k]) - 1.1;
  }
  return polygon;
}

TEST(Polygon, FourPlanesThatCutOffTheCornersOfASquareLeaveAnOctagon) {
  const double q = std::numbers::pi / 4;
  Polygon polygon = make_square({q, 3 * q, 5 * q, 7 * q});
  ASSERT_TRUE(clip_polygon(kAllPlanes, 0, &polygon));
  EXPECT_EQ(polygon.num_vertices, 8);
  const PolygonMoments moments = calc_moments(polygon, Vec4{0, 0, 1, 0});
  const double cut = std::numbers::sqrt2 - 1.1;  // height of each corner that is cut off
  EXPECT_NEAR(moments.area, 4 - 4 * cut * cut, 1e-14);
  EXPECT_NEAR(moments.centroid_pressure[0], 0, 1e-15);
  EXPECT_NEAR(moments.centroid_pressure[1], 0, 1e-15);
}

TEST(Polygon, PlanesThatCutOffTooLittleAreIgnored) {
  const double q = std::numbers::pi / 4;
  Polygon polygon = make_square({q, 3 * q, 5 * q, 7 * q});
  ASSERT_TRUE(clip_polygon(2, 0, &polygon));
  EXPECT_EQ(polygon.num_vertices, 5);
  ASSERT_TRUE(clip_polygon(1, 1, &polygon));  // within the tolerance
  EXPECT_EQ(polygon.num_vertices, 5);
}

TEST(Polygon, NothingRemainsOutsideAPlane) {
  Polygon polygon = make_square({0, 0, 0, 0});
  for (PolygonVertex& vertex : polygon.vertex) vertex.distance += math::broadcast_to<Vec4>(3);
  EXPECT_FALSE(clip_polygon(kAllPlanes, 0, &polygon));
}

TEST(Polygon, NothingRemainsIfOnlyAnEdgeIsInside) {
  Polygon polygon = make_square({0, 0, 0, 0});
  for (PolygonVertex& vertex : polygon.vertex) vertex.distance[0] = vertex.position_pressure[0] + 1;
  EXPECT_FALSE(clip_polygon(kAllPlanes, 1e-15, &polygon));
}

TEST(Polygon, APolygonInAPlaneRemainsWhole) {
  Polygon polygon = make_square({0, 0, 0, 0});
  for (PolygonVertex& vertex : polygon.vertex) vertex.distance[0] = 0;
  EXPECT_TRUE(clip_polygon(1, 1e-15, &polygon));
  EXPECT_EQ(polygon.num_vertices, 4);
}

TEST(Polygon, NearVerticesMerge) {
  Polygon polygon = make_square({0, 0, 0, 0});
  polygon.num_vertices = 6;
  polygon.vertex[4] = polygon.vertex[3];
  polygon.vertex[4].position_pressure[0] += 1e-15;
  polygon.vertex[5] = polygon.vertex[0];
  EXPECT_TRUE(merge_vertices(1e-14, &polygon));
  EXPECT_EQ(polygon.num_vertices, 4);
  for (PolygonVertex& vertex : polygon.vertex) vertex.position_pressure *= 1e-16;
  EXPECT_FALSE(merge_vertices(1e-14, &polygon));
}

TEST(Polygon, CentroidOfATriangleIsItsCornersMean) {
  Polygon polygon;
  polygon.num_vertices = 3;
  polygon.vertex[0].position_pressure = Vec4{5, 1, 2, 10};
  polygon.vertex[1].position_pressure = Vec4{6, 1, 2, 20};
  polygon.vertex[2].position_pressure = Vec4{5, 3, 2, 60};
  const PolygonMoments moments = calc_moments(polygon, Vec4{0, 0, 1, 0});
  EXPECT_DOUBLE_EQ(moments.area, 1);
  EXPECT_NEAR(moments.centroid_pressure[0], 16.0 / 3, 1e-14);
  EXPECT_NEAR(moments.centroid_pressure[1], 5.0 / 3, 1e-14);
  EXPECT_NEAR(moments.centroid_pressure[3], 30, 1e-13);
}

}  // namespace
}  // namespace stiction::geometry::polygon_test
