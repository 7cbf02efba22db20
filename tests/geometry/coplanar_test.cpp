// Tests surfaces that lie in faces of a mesh, such as between aligned bodies. Each piece must count
// once.
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "geometry/surface_support.hpp"

namespace stiction::geometry::coplanar_test {
namespace {

/// Two tetrahedra with a common face in z = 0 and apexes at z = 0.1 and z = -0.1. The pressure is
/// 1e6 (1 + 5 z).
PressureField make_bipyramid() {
  PressureField field;
  field.mesh.vertices = {
      {0.1, 0, 0}, {-0.05, 0.08, 0}, {-0.05, -0.08, 0}, {0, 0, 0.1}, {0, 0, -0.1}};
  field.mesh.tets = {{0, 1, 2, 3}, {0, 2, 1, 4}};
  for (const Vec3& x : field.mesh.vertices) field.pressure.push_back(1e6 * (1 + 5 * x.z));
  return field;
}

constexpr double kFaceArea = 0.5 * 0.16 * 0.15;

/// A rigid triangle at height z, half as large as the common face, that faces up or down.
RigidBody make_triangle(double z, bool is_up) {
  TriangleMesh mesh;
  mesh.vertices = {{0.05, 0, z}, {-0.025, 0.04, z}, {-0.025, -0.04, z}};
  mesh.triangles = {{0, 1, 2}};
  if (!is_up) std::swap(mesh.triangles[0][1], mesh.triangles[0][2]);
  return RigidBody(mesh);
}

TEST(Coplanar, RigidTriangleInASharedFaceCountsOnce) {
  const ContactBody body = CompliantBody(make_bipyramid());
  for (const double z : {0.0, 1e-18, -1e-18, 1e-16, -1e-16, 1e-15, -1e-15}) {
    const ContactSurface surface = calc_surface(make_triangle(z, true), kIdentity, body, kIdentity);
    ASSERT_EQ(surface.faces.size(), 1U) << z;
    EXPECT_NEAR(surface.faces[0].area, kFaceArea / 4, 1e-15);
    EXPECT_EQ(surface.faces[0].element_B, 0);  // It faces up, into the upper tetrahedron.
  }
  // The pressure decreases along the normal of a triangle that faces down.
  const ContactSurface away = calc_surface(make_triangle(0, false), kIdentity, body, kIdentity);
  EXPECT_TRUE(away.faces.empty());
  EXPECT_NEAR(away.discarded_area, kFaceArea / 4, 1e-15);
}

/// The faces of rotated bodies are coplanar except for rounding.
TEST(Coplanar, RigidTriangleInARotatedSharedFaceCountsOnce) {
  std::mt19937 random(11);
  const ContactBody body = CompliantBody(make_bipyramid()), triangle = make_triangle(0, true);
  for (int round = 0; round < 50; ++round) {
    const RigidTransform X = random_pose(&random, 3);
    const ContactSurface surface = calc_surface(triangle, X, body, X);
    EXPECT_NEAR(surface.area(), kFaceArea / 4, 1e-14);
  }
}

TEST(Coplanar, RigidPlaneThroughASharedFaceCountsOnce) {
  const ContactBody body = CompliantBody(make_bipyramid());
  const ContactSurface surface = calc_surface(HalfSpace{kInfinity}, kIdentity, body, kIdentity);
  EXPECT_NEAR(surface.area(), kFaceArea, 1e-15);
}

/// The other field decreases upward and has the same pressure at z = 0. The surface is the shared
/// face of one body or of both.
TEST(Coplanar, EquilibriumInSharedFacesCountsOnce) {
  std::mt19937 random(12);
  const PressureField rising = make_bipyramid();
  PressureField falling = rising;
  for (std::size_t i = 0; i < falling.pressure.size(); ++i)
    falling.pressure[i] = 1e6 * (1 - 5 * falling.mesh.vertices[i].z);
  // One tetrahedron contains the bipyramid and has no face in z = 0.
  PressureField block;
  block.mesh.vertices = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  block.mesh.tets = {{0, 2, 1, 3}};
  for (const Vec3& x : block.mesh.vertices) block.pressure.push_back(1e6 * (1 - 5 * x.z));
  const ContactBody up = CompliantBody(rising), down = CompliantBody(falling);
  const ContactBody whole = CompliantBody(block);
  for (int round = 0; round < 50; ++round) {
    const RigidTransform X = round == 0 ? kIdentity : random_pose(&random, 3);
    EXPECT_NEAR(calc_surface(up, X, whole, X).area(), kFaceArea, 1e-14);
    EXPECT_NEAR(calc_surface(whole, X, up, X).area(), kFaceArea, 1e-14);
    EXPECT_NEAR(calc_surface(up, X, down, X).area(), kFaceArea, 1e-14);
  }
}

/// Two equal boxes face to face. The corners of one lie on planes of the other's mesh. The force is
/// that of equal springs in series, for any orientation. Within d / 2 of a side both pressures are
/// proportional to the distance to that side, so the fields agree in a wedge. The lower boundary of
/// the wedge, inclined by 45 degrees, is the surface.
TEST(Coplanar, AlignedBoxesCountOnce) {
  const double H = 0.05, d = 0.01, E = 1e6;
  const ContactBody box = make_box({H, H, H}, E);
  const double half_depth_force =
      calc_totals(calc_surface(HalfSpace{kInfinity}, kIdentity, box, translation(0, 0, H - d / 2)))
          .force_on_A.z;
  const double flat = (2 * H - d) * (2 * H - d);
  std::mt19937 random(13);
  for (int round = 0; round < 20; ++round) {
    const RigidTransform X = round == 0 ? kIdentity : random_pose(&random, 3);
    const SurfaceTotals totals =
        calc_totals(calc_surface(box, X, box, X * translation(0, 0, 2 * H - d)));
    EXPECT_NEAR(totals.area, flat + std::numbers::sqrt2 * (4 * H * H - flat), 1e-12);
    EXPECT_NEAR(norm(totals.force_on_A), -half_depth_force, 1e-9 * E);
    // After a shift by half a side, corners and edges of each box lie in planes of the other.
    const ContactSurface shifted = calc_surface(box, X, box, X * translation(H, H, 2 * H - d));
    const ContactSurface nearby =
        calc_surface(box, X, box, X * translation(H + 1e-8, H + 1e-8, 2 * H - d));
    EXPECT_NEAR(shifted.area(), nearby.area(), 1e-7 * nearby.area() + 1e-8);
    EXPECT_LT(norm(calc_totals(shifted).force_on_A - calc_totals(nearby).force_on_A),
              1e-5 * norm(calc_totals(nearby).force_on_A));
  }
}

/// The corner and the edges of a rigid box lie in planes of the compliant box's mesh.
TEST(Coplanar, RigidBoxWithItsCornerOnAPlaneOfTheMeshCountsOnce) {
  const double H = 0.05;
  const ContactBody soft = make_box({H, H, H}, 1e6);
  const ContactBody rigid = RigidBody(make_box_surface({H, H, H}));
  for (const Vec3& shift : {Vec3{0, 0, 1.6 * H}, Vec3{H, 0, 1.6 * H}, Vec3{H, H, 1.6 * H}}) {
    const RigidTransform X = {{}, shift}, X_near = {{}, shift + Vec3{1e-9, 1e-9, 0}};
    const SurfaceTotals at = calc_totals(calc_surface(rigid, X, soft, kIdentity));
    const SurfaceTotals near = calc_totals(calc_surface(rigid, X_near, soft, kIdentity));
    EXPECT_GT(at.area, 0.2 * H * H);
    EXPECT_NEAR(at.force_on_A.z, near.force_on_A.z, 1e-6 * near.force_on_A.z);
  }
}

/// Two copies of a field have equal pressure everywhere, so there is no surface.
TEST(Coplanar, CoincidentBodiesHaveNoSurface) {
  std::mt19937 random(14);
  const ContactBody box = make_box({0.05, 0.04, 0.03}, 1e6);
  const ContactBody sphere = make_sphere(0.05, 0.02, 1e6);
  for (int round = 0; round < 20; ++round) {
    const RigidTransform X = round == 0 ? kIdentity : random_pose(&random, 3);
    for (const ContactBody& body : {box, sphere}) {
      const SurfaceTotals totals = calc_totals(calc_surface(body, X, body, X));
      EXPECT_LT(norm(totals.force_on_A), 1e-6);
    }
  }
}

}  // namespace
}  // namespace stiction::geometry::coplanar_test
