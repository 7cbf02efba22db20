#include "stiction/geometry/orient_shells.hpp"

#include <array>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry::orient_shells_test {
namespace {

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
}  // namespace stiction::geometry::orient_shells_test
