#include "stiction/geometry/mesh_check.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/geometry/shapes.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry::mesh_check_test {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

std::string explain(const TetMesh& mesh) {
  try {
    check_tet_mesh(mesh, "part.vtk");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidValue);
    return error.what();
  }
  return "";
}

std::string explain(const TriangleMesh& mesh) {
  try {
    check_triangle_mesh(mesh, "part.obj");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidValue);
    return error.what();
  }
  return "";
}

/// A tet divided into four about an interior vertex.
TetMesh make_star(const Vec3& inside) {
  return {{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}, inside},
          {{4, 1, 2, 3}, {4, 0, 2, 1}, {4, 0, 1, 3}, {4, 0, 3, 2}}};
}

const Vec3 kInside = {0.02, 0.02, 0.02};

TEST(TetMeshCheck, FindsEveryFault) {
  EXPECT_EQ(explain(make_star(kInside)), "");
  EXPECT_EQ(explain(TetMesh{}), "part.vtk: the mesh has no tets");

  TetMesh mesh = make_star(kInside);
  mesh.tets[2][3] = 5;
  EXPECT_EQ(explain(mesh),
            "part.vtk: tet 2: vertex index 5 is out of range; the mesh has 5 vertices");
  mesh.tets[2][3] = -1;
  EXPECT_EQ(explain(mesh),
            "part.vtk: tet 2: vertex index -1 is out of range; the mesh has 5 vertices");
  mesh.tets[2][3] = 0;
  EXPECT_EQ(explain(mesh), "part.vtk: tet 2: has vertex 0 twice");

  mesh = make_star({0.02, kNan, 0.02});
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "vertex 4: the position (0.02, nan, 0.02) is not finite", explain(mesh));

  mesh = make_star({0.02, 0.02, 0});
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "part.vtk: tet 1: is flat: its least height is 0 m",
                      explain(mesh));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "tet 1: is flat",
                      explain(make_star({0.02, 0.02, 1e-10})));
  EXPECT_EQ(explain(make_star({0.02, 0.02, 1e-7})), "");

  mesh = make_star(kInside);
  std::swap(mesh.tets[3][1], mesh.tets[3][2]);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "part.vtk: tet 3: is inverted: its volume is -3.33333e-05", explain(mesh));

  // A single tet has no interior vertex, and a vertex without a tet does not count.
  mesh = make_star(kInside);
  mesh.tets = {{0, 1, 2, 3}};
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "part.vtk: no vertex lies inside", explain(mesh));
}

TEST(TetMeshCheck, FindsTetsThatDoNotFit) {
  // A tet below the face z = 0 fits; one above it overlaps the others.
  TetMesh mesh = make_star(kInside);
  mesh.vertices.push_back({0.02, 0.02, -0.1});
  mesh.tets.push_back({5, 1, 2, 0});
  EXPECT_EQ(explain(mesh), "");
  mesh.vertices[5].z = 0.3;
  mesh.tets[4] = {5, 1, 0, 2};
  EXPECT_EQ(explain(mesh),
            "part.vtk: face (0, 1, 2): tets 1 and 4 lie on the same side of it, so they overlap");

  mesh.tets.push_back(mesh.tets[4]);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "face (0, 1, 2): is shared by 3 tets, among them 1, 4 and 5", explain(mesh));

  // Tets without common vertices are not joined.
  TetMesh soup;
  for (const auto& tet : make_star(kInside).tets)
    for (const int v : tet) soup.vertices.push_back(make_star(kInside).vertices[v]);
  for (int i = 0; i < 4; ++i) soup.tets.push_back({4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3});
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "vertex 4: has the position of vertex 0",
                      explain(soup));
}

TEST(TetMeshCheck, ListsTenFaultsAndCountsTheOthers) {
  TetMesh mesh = make_box_mesh({1, 2, 3}).mesh;
  for (auto& tet : mesh.tets) std::swap(tet[0], tet[1]);
  const std::string all = explain(mesh);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 10);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "tet 9: is inverted", all);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "part.vtk: and 34 more faults", all);
}

TEST(TriangleMeshCheck, FindsEveryFault) {
  const TriangleMesh box = make_box_surface({1, 2, 3});
  EXPECT_EQ(explain(box), "");
  EXPECT_EQ(explain(TriangleMesh{}), "part.obj: the mesh has no triangles");

  TriangleMesh mesh = box;
  mesh.triangles[7][0] = 99;
  EXPECT_EQ(explain(mesh),
            "part.obj: triangle 7: vertex index 99 is out of range; the mesh has 14 vertices");
  mesh.triangles[7][0] = mesh.triangles[7][1];
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "part.obj: triangle 7: has vertex", explain(mesh));

  mesh = box;
  mesh.vertices[3].z = std::numeric_limits<double>::infinity();
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "part.obj: vertex 3: the position", explain(mesh));

  mesh = box;
  mesh.vertices[mesh.triangles[5][0]] =
      0.5 * (mesh.vertices[mesh.triangles[5][1]] + mesh.vertices[mesh.triangles[5][2]]);
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "part.obj: triangle 5: is degenerate: its area is 0 m^2", explain(mesh));

  mesh = box;
  const auto [a, b, c] = mesh.triangles.back();
  mesh.triangles.pop_back();
  const std::string open = explain(mesh);
  EXPECT_EQ(std::count(open.begin(), open.end(), '\n'), 2) << "the hole's three edges";
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "edge (" + std::to_string(std::min(a, b)) + ", " +
                          std::to_string(std::max(a, b)) + "): belongs to triangle",
                      open);

  mesh.triangles.push_back({b, a, c});
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "and 23 wind in opposite senses; reverse one of them",
                      explain(mesh));

  mesh = box;
  mesh.triangles.push_back({0, 1, 2});
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is shared by 3 triangles", explain(mesh));

  mesh = box;
  for (auto& triangle : mesh.triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_EQ(explain(mesh),
            "part.obj: the volume is -48 m^3, because triangles wind inward; reverse the order of "
            "their vertices");
}

TEST(TriangleMeshCheck, AcceptsACavity) {
  TriangleMesh shells = make_box_surface({2, 2, 2});
  const TriangleMesh inner = make_box_surface({1, 1, 1});
  const int n = static_cast<int>(shells.vertices.size());
  shells.vertices.insert(shells.vertices.end(), inner.vertices.begin(), inner.vertices.end());
  for (const auto& [a, b, c] : inner.triangles) shells.triangles.push_back({n + a, n + c, n + b});
  EXPECT_EQ(explain(shells), "");
  EXPECT_NEAR(calc_volume(shells), 64 - 8, 1e-12);
}

}  // namespace
}  // namespace stiction::geometry::mesh_check_test
