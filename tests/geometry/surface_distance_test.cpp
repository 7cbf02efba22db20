#include "stiction/geometry/surface_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "stiction/geometry/shapes.hpp"

namespace stiction::geometry::surface_distance_test {
namespace {

Vec3 draw(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> uniform(-size, size);
  const double x = uniform(random), y = uniform(random);
  return {x, y, uniform(random)};
}

TEST(SurfaceDistance, HasTheClosedFormOfABox) {
  // The points lie inside and outside, nearest to faces, edges and corners.
  const Vec3 half = {1, 2, 3};
  const SurfaceDistance box(make_box_surface(half));
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Vec3 x = draw(random, 5);
    const Vec3 out = {std::abs(x.x) - half.x, std::abs(x.y) - half.y, std::abs(x.z) - half.z};
    const double depth = std::max({out.x, out.y, out.z});
    const double distance = depth < 0 ? -depth : norm(componentwise_max(out, {0, 0, 0}));
    EXPECT_NEAR(box.calc(x), distance, 1e-14);
  }
}

TEST(SurfaceDistance, TreeAgreesWithBruteForce) {
  const TriangleMesh surface = make_ellipsoid_surface({1, 0.5, 0.2}, 0.1);
  const SurfaceDistance tree(surface);
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const Vec3 x = draw(random, 1.5);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [a, b, c] : surface.triangles)
      least =
          std::min(least, norm(x - find_nearest_point(x, surface.vertices[a], surface.vertices[b],
                                                      surface.vertices[c])));
    EXPECT_DOUBLE_EQ(tree.calc(x), least);
  }
}

TEST(SurfaceDistance, AcceptsTrianglesWithoutArea) {
  EXPECT_DOUBLE_EQ(norm(find_nearest_point({1, 1, 0}, {0, 0, 0}, {1, 0, 0}, {3, 0, 0})), 1);
  EXPECT_EQ(find_nearest_point({1, 1, 0}, {2, 0, 0}, {2, 0, 0}, {2, 0, 0}), (Vec3{2, 0, 0}));
}

}  // namespace
}  // namespace stiction::geometry::surface_distance_test
