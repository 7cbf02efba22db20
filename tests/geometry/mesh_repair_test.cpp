#include "stiction/geometry/mesh_check.hpp"

#include <array>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/geometry/shapes.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry::mesh_repair_test {
namespace {

/// The cube [0, 1]^3 with n additional vertices along an edge, all joined to one end of the edge.
/// This gives n slivers side by side; the first is next to a proper triangle.
TriangleMesh make_cube_of_slivers(int n) {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back({1.0 * (i >> 2), 1.0 * (i >> 1 & 1), 1.0 * (i & 1)});
  mesh.triangles = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 5, 1}, {0, 4, 5},
                    {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
  // The edge from 4 to 5 belongs to (4, 7, 5) and (0, 4, 5). The latter gets the additional
  // vertices.
  mesh.triangles[5] = {0, 4, 8};
  for (int i = 0; i < n; ++i) {
    mesh.vertices.push_back({1, 0, (i + 1.0) / (n + 1)});
    mesh.triangles.push_back({0, 8 + i, i + 1 < n ? 9 + i : 5});
    mesh.triangles.push_back({8 + i, i > 0 ? 7 + i : 4, 5});
  }
  return mesh;
}

TEST(FlipSlivers, RemovesSliversAndKeepsTheVolume) {
  for (const int n : {1, 2, 7}) {
    TriangleMesh mesh = make_cube_of_slivers(n);
    ASSERT_NEAR(calc_volume(mesh), 1, 1e-15);
    EXPECT_THROW(check_triangle_mesh(mesh, ""), Error);
    const std::size_t num_triangles = mesh.triangles.size();
    flip_slivers(1e-6, &mesh);
    EXPECT_NO_THROW(check_triangle_mesh(mesh, "")) << n;
    EXPECT_EQ(mesh.triangles.size(), num_triangles);
    EXPECT_NEAR(calc_volume(mesh), 1, 1e-15);
  }
}

TEST(FlipSlivers, HullWithSliversHasAMesh) {
  const MeshedShape shape = make_convex_mesh(make_cube_of_slivers(3));
  EXPECT_NO_THROW(check_tet_mesh(shape.mesh, ""));
  EXPECT_NEAR(calc_volume(shape.mesh), 1, 1e-15);
}

TEST(FlipSlivers, KeepsProperTriangles) {
  TriangleMesh sphere = make_sphere_surface(1, 0.2);
  const auto triangles = sphere.triangles;
  flip_slivers(1e-3, &sphere);
  EXPECT_EQ(sphere.triangles, triangles);
  EXPECT_DOUBLE_EQ(calc_relative_height({{{0, 0, 0}, {4, 0, 0}, {1, 2, 0}}, {}}, {0, 1, 2}), 0.5);
  EXPECT_EQ(calc_relative_height({{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {}}, {0, 1, 2}), 0);
}

TEST(FlipSlivers, KeepsSliversThatNoFlipImproves) {
  // Two triangles back to back, then a single one.
  TriangleMesh lens = {{{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}}, {{0, 1, 2}, {0, 2, 1}}};
  flip_slivers(1e-6, &lens);
  EXPECT_EQ(lens.triangles[0], (std::array<int, 3>{0, 1, 2}));
  lens.triangles.pop_back();
  flip_slivers(1e-6, &lens);
  EXPECT_EQ(lens.triangles.size(), 1u);
  EXPECT_THROW(make_convex_surface(lens), Error);
}

/// Adds the surface of a tetrahedron with edges along the axes, wound outward or inward.
void add_corner(Vec3 at, double leg, bool is_inward, TriangleMesh* mesh) {
  const int v = static_cast<int>(mesh->vertices.size());
  for (const Vec3& x : {Vec3{}, Vec3{leg, 0, 0}, Vec3{0, leg, 0}, Vec3{0, 0, leg}})
    mesh->vertices.push_back(at + x);
  for (auto [a, b, c] : {std::array{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}) {
    if (is_inward) std::swap(a, b);
    mesh->triangles.push_back({v + a, v + b, v + c});
  }
}

TEST(OrientShells, ReversesEachShellThatWindsInward) {
  TriangleMesh mesh;
  add_corner({0, 0, 0}, 1, true, &mesh);
  add_corner({5, 0, 0}, 2, false, &mesh);
  TriangleMesh outward;
  add_corner({0, 0, 0}, 1, false, &outward);
  add_corner({5, 0, 0}, 2, false, &outward);
  EXPECT_NEAR(calc_volume(mesh), 8. / 6 - 1. / 6, 1e-12);
  orient_shells(&mesh);
  EXPECT_NEAR(calc_volume(mesh), calc_volume(outward), 1e-12);
  const auto turned = mesh.triangles;
  orient_shells(&mesh);
  EXPECT_EQ(mesh.triangles, turned);
}

TEST(OrientShells, KeepsCavities) {
  TriangleMesh mesh;
  add_corner({0, 0, 0}, 10, false, &mesh);
  add_corner({1, 1, 1}, 1, true, &mesh);
  orient_shells(&mesh);
  EXPECT_NEAR(calc_volume(mesh), 999. / 6, 1e-9);
}

}  // namespace

}  // namespace stiction::geometry::mesh_repair_test
