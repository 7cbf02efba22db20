#include "stiction/geometry/tet_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include <gtest/gtest.h>

#include "stiction/geometry/shapes.hpp"

namespace stiction::geometry::tet_mesh_test {
namespace {

const TetMesh kTet = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2, 3}}};

TEST(TetMesh, FacesAreOppositeAndOutward) {
  for (int k = 0; k < 4; ++k) {
    const auto [a, b, c] = get_face(kTet.tets[0], k);
    EXPECT_EQ((std::set<int>{a, b, c, k}).size(), 4u);
    const auto& X = kTet.vertices;
    EXPECT_LT(dot(cross(X[b] - X[a], X[c] - X[a]), X[k] - X[a]), 0);
  }
  EXPECT_DOUBLE_EQ(calc_volume(make_boundary(kTet)), 1 / 6.0);
}

TEST(TetMesh, NeighborsShareTheFace) {
  const TetMesh mesh = make_cylinder_mesh(1, 1, 0.5).mesh;
  const auto neighbors = find_neighbors(mesh);
  int num_boundary = 0;
  for (int i = 0; i < static_cast<int>(mesh.tets.size()); ++i)
    for (int k = 0; k < 4; ++k) {
      std::set<int> face(mesh.tets[i].begin(), mesh.tets[i].end());
      face.erase(mesh.tets[i][k]);
      int other = -1;
      for (int j = 0; j < static_cast<int>(mesh.tets.size()); ++j) {
        const std::set<int> tet(mesh.tets[j].begin(), mesh.tets[j].end());
        if (j != i && std::includes(tet.begin(), tet.end(), face.begin(), face.end())) other = j;
      }
      EXPECT_EQ(neighbors[i][k], other);
      num_boundary += other < 0;
    }
  EXPECT_EQ(find_boundary(mesh).size(), static_cast<std::size_t>(num_boundary));
}

TEST(TetMesh, BoundaryKeepsNoInnerVertex) {
  const TetMesh mesh = make_box_mesh({1, 2, 3}).mesh;
  const TriangleMesh boundary = make_boundary(mesh);
  EXPECT_EQ(boundary.vertices.size(), 14u);
  EXPECT_EQ(boundary.triangles.size(), 24u);
  EXPECT_NEAR(calc_volume(boundary), 48, 1e-13);
  EXPECT_NEAR(calc_volume(mesh), 48, 1e-13);
}

TEST(TetMesh, VolumeOfASurfaceFarAwayKeepsItsDigits) {
  TriangleMesh box = make_box_surface({0.01, 0.01, 0.01});
  for (Vec3& v : box.vertices) v += {1e4, 1e4, 1e4};
  // Positions are rounded by 1e-12 relative to a size of 1e-2.
  EXPECT_NEAR(calc_volume(box) / 8e-6, 1, 1e-9);
}

TEST(TetMesh, QualityOfARegularTetIsOne) {
  const TetMesh regular = {{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, {{0, 1, 3, 2}}};
  EXPECT_NEAR(std::abs(calc_quality(regular, regular.tets[0])), 1, 1e-15);
  // The edges are 1, 1, 1, sqrt(2), sqrt(2), sqrt(2), so l_rms^2 = 3/2.
  EXPECT_NEAR(calc_quality(kTet, kTet.tets[0]), std::sqrt(2.0) / std::pow(1.5, 1.5), 1e-15);
  EXPECT_LT(calc_quality(kTet, {1, 0, 2, 3}), 0);
  TetMesh flat = kTet;
  flat.vertices[3] = {1, 1, 0};
  EXPECT_EQ(calc_quality(flat, flat.tets[0]), 0);
}

}  // namespace
}  // namespace stiction::geometry::tet_mesh_test
