#include "stiction/geometry/bvh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "geometry/surface_support.hpp"

namespace stiction::geometry::bvh_test {
namespace {

using Corners = std::array<Vec3, 4>;
using Pressures = std::array<double, 4>;

/// Makes a hierarchy of one tetrahedron with the limit of rates that CompliantBody sets.
Bvh make_tree(const Corners& corners, const Pressures& pressures, double size) {
  double most = 0;
  for (const double p : pressures) most = std::max(most, std::abs(p));
  const double most_rate = 2 * size / most;
  return make_bvh({bound_sections(corners, pressures, most_rate, 0)}, {}, size, most_rate);
}

bool do_meet(const Bvh& N, const Bvh& M, const RigidTransform& X_NM) {
  const FloatPose pose(X_NM, N.origin, M.origin);
  return (find_overlaps(N.leaves[0].boxes, M.bounds, pose, 1e-5F).find_nonempty() & 1) != 0;
}

/// Both tetrahedra contain a random point and have the same pressure there.
TEST(Bvh, BoxesMeetWhereTetrahedraShareAPointOfEqualPressure) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 2000; ++round) {
    const RigidTransform X_NM = random_pose(&random, 0.1);
    // Every third field is nearly constant, so its rates must be limited.
    const double spread = round % 3 ? 1e6 : 1;
    std::array<Bvh, 2> trees;
    const Vec3 x_N = random_vector(&random, 0.05);
    const Vec3 x_M = inverse_times(X_NM, {{}, x_N}).p;
    for (int body = 0; body < 2; ++body) {
      Corners corners;
      Pressures pressures, weight;
      double sum = 0;
      for (double& w : weight) sum += w = uniform(random);
      Vec3 at;
      double p = 0;
      for (int i = 0; i < 4; ++i) {
        corners[i] = random_vector(&random, 0.1);
        pressures[i] = spread * uniform(random);
        at += weight[i] / sum * corners[i];
        p += weight[i] / sum * pressures[i];
      }
      for (Vec3& x : corners) x += (body ? x_M : x_N) - at;
      for (double& value : pressures) value += 2e6 - p;
      trees[body] = make_tree(corners, pressures, 0.5);
    }
    EXPECT_TRUE(do_meet(trees[0], trees[1], X_NM)) << round;
  }
}

/// Two needles that cross: their boxes overlap, but their sections at equal pressure do not.
TEST(Bvh, NeedlesMeetOnlyWhereTheirPressuresDo) {
  const Corners needle = {Vec3{0, 0, 0}, {0.1, 0, 0.001}, {0.1, 0.001, 0}, {0.1, -0.001, 0}};
  const Bvh tree = make_tree(needle, {1e6, 0, 0, 0}, 0.1);
  // In the first pose the needles cross where both pressures are half of the largest one. In the
  // others the crossing has moved along the first needle.
  const math::Mat3 R = rotation({0, 0, 1}, 0.5 * std::numbers::pi);
  EXPECT_TRUE(do_meet(tree, tree, {R, {0.05, -0.05, 0}}));
  EXPECT_FALSE(do_meet(tree, tree, {R, {0.03, -0.05, 0}}));
  EXPECT_FALSE(do_meet(tree, tree, {R, {0.07, -0.05, 0}}));
}

TEST(Bvh, ElementsWithoutFieldMeetAllPressures) {
  const Corners needle = {Vec3{0, 0, 0}, {0.1, 0, 0.001}, {0.1, 0.001, 0}, {0.1, -0.001, 0}};
  const Bvh tree = make_tree(needle, {1e6, 0, 0, 0}, 0.1);
  const Vec3 half = {0.001, 0.001, 0.001};
  const Bvh box = make_bvh({bound_all_pressures(-half, half, 0)}, {}, 0.002, 0);
  for (const double x : {0.0, 0.02, 0.05, 0.1})
    EXPECT_TRUE(do_meet(tree, box, translation(x, 0, 0)));
  // Both boxes lie in the plain bounding box of the needle: above its wide end, and above its thin
  // part.
  EXPECT_TRUE(do_meet(tree, box, translation(0.1, 0, 0.0015)));
  EXPECT_FALSE(do_meet(tree, box, translation(0.02, 0, 0.0015)));
}

}  // namespace
}  // namespace stiction::geometry::bvh_test
