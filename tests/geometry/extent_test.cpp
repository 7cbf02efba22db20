#include "stiction/geometry/extent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/geometry/shapes.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry::extent_test {
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

/// The unit cube, divided into n^3 cells of six tets about a diagonal. The edges of each tet go
/// from one end of the diagonal to the other along the axes, in one of their six orders.
TetMesh make_grid(int n) {
  TetMesh mesh;
  const auto index = [n](int i, int j, int k) { return (i * (n + 1) + j) * (n + 1) + k; };
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j)
      for (int k = 0; k <= n; ++k) mesh.vertices.push_back({1.0 * i / n, 1.0 * j / n, 1.0 * k / n});
  for (int cell = 0; cell < n * n * n; ++cell) {
    std::array<int, 3> order = {0, 1, 2};
    do {
      std::array<int, 3> at = {cell / (n * n), cell / n % n, cell % n};
      std::array<int, 4> tet{index(at[0], at[1], at[2])};
      for (int step = 0; step < 3; ++step) {
        ++at[order[step]];
        tet[step + 1] = index(at[0], at[1], at[2]);
      }
      if (calc_volume(mesh, tet) < 0) std::swap(tet[2], tet[3]);
      mesh.tets.push_back(tet);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return mesh;
}

TEST(Extent, IsTheDepthOfACubesVertices) {
  TetMesh grid = make_grid(6);
  grid.vertices.push_back({0.4, 0.4, 0.4});  // a vertex without a tet
  const MeshedShape shape = make_meshed_shape(grid, "");
  EXPECT_DOUBLE_EQ(calc_boundary_distance(grid).greatest, 0.5);
  for (std::size_t v = 0; v + 1 < grid.vertices.size(); ++v) {
    const Vec3& x = grid.vertices[v];
    const double depth = std::min({x.x, 1 - x.x, x.y, 1 - x.y, x.z, 1 - x.z});
    EXPECT_NEAR(shape.extent[v], depth / 0.5, 1e-15);
  }
  EXPECT_EQ(shape.extent.back(), 0);
}

TEST(Extent, IsThatOfTheShapeWhoseMeshIsGiven) {
  for (const MeshedShape& shape :
       {make_box_mesh({1, 2, 3}), make_box_mesh({2, 1, 1}), make_sphere_mesh(1, 0.3),
        make_cylinder_mesh(1, 4, 0.5), make_capsule_mesh(1, 1, 0.5)}) {
    const MeshedShape general = make_meshed_shape(shape.mesh, "");
    for (std::size_t v = 0; v < shape.extent.size(); ++v)
      EXPECT_NEAR(general.extent[v], shape.extent[v], 1e-14);
  }
}

TEST(Extent, SummaryHasTheValuesOfAKnownMesh) {
  const TetMeshSummary summary = summarize(make_grid(4));
  EXPECT_NEAR(summary.volume, 1, 1e-14);
  EXPECT_NEAR(summary.thickness, 1, 1e-15);
  // The edges of a tet have lengths 1, 1, 1, sqrt(2), sqrt(2), sqrt(3), so l_rms^2 = 10/6; V = 1/6.
  EXPECT_NEAR(summary.min_quality, std::sqrt(2.0) / std::pow(10 / 6.0, 1.5), 1e-14);
  // Tets at the cube's edges have no interior vertex.
  int num_on_boundary = 0;
  const TetMesh grid = make_grid(4);
  for (const auto& tet : grid.tets)
    num_on_boundary += std::all_of(tet.begin(), tet.end(), [&](int v) {
      const Vec3& x = grid.vertices[v];
      return std::min({x.x, x.y, x.z}) == 0 || std::max({x.x, x.y, x.z}) == 1;
    });
  EXPECT_GT(num_on_boundary, 0);
  EXPECT_EQ(summary.num_tets_on_boundary, num_on_boundary);

  TetMesh squeezed = make_grid(3);
  for (Vec3& v : squeezed.vertices)
    if (v == Vec3{0, 0, 0}) v = {0.3, 0.3, 0.3};
  const int worst = summarize(squeezed).worst_tet;
  EXPECT_EQ(squeezed.tets[worst][0], 0) << "the worst tet has the moved corner";
}

TEST(Extent, ChecksTheMesh) {
  EXPECT_THROW(make_meshed_shape(make_grid(1), "part.vtk"), Error) << "no vertex inside";
}

}  // namespace

}  // namespace stiction::geometry::extent_test
