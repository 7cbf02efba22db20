// Compares queries that reuse a list of candidates with new queries. The bits must be the same.
#include "stiction/geometry/candidates.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include "geometry/surface_support.hpp"

namespace stiction::geometry::drift_tracker_test {
namespace {

void expect_same_bits(const ContactSurface& a, const ContactSurface& b) {
  ASSERT_EQ(a.faces.size(), b.faces.size());
  ASSERT_EQ(a.vertices.size(), b.vertices.size());
  const auto is_same = [](const Vec3& x, const Vec3& y) {
    return x.x == y.x && x.y == y.y && x.z == y.z;
  };
  for (std::size_t i = 0; i < a.vertices.size(); ++i) {
    ASSERT_TRUE(is_same(a.vertices[i], b.vertices[i])) << i;
    ASSERT_EQ(a.vertex_pressure[i], b.vertex_pressure[i]) << i;
  }
  for (std::size_t i = 0; i < a.faces.size(); ++i) {
    const SurfaceFace &f = a.faces[i], &g = b.faces[i];
    ASSERT_TRUE(is_same(f.centroid, g.centroid) && is_same(f.normal, g.normal)) << i;
    ASSERT_EQ(f.area, g.area) << i;
    ASSERT_EQ(f.element_A, g.element_A) << i;
    ASSERT_EQ(f.element_B, g.element_B) << i;
  }
  EXPECT_EQ(a.discarded_area, b.discarded_area);
}

/// Reuses one query and expects the surfaces of new queries.
class ReusedQuery {
 public:
  void check(const ContactBody& A, const ContactBody& B, const RigidTransform& X_WB) {
    query_.calc(A, kIdentity, B, X_WB, Tessellation::polygon, &surface_);
    expect_same_bits(surface_, calc_surface(A, kIdentity, B, X_WB));
    num_faces_ += surface_.faces.size();
  }
  std::size_t num_faces() const { return num_faces_; }

 private:
  SurfaceQuery query_;
  ContactSurface surface_;
  std::size_t num_faces_ = 0;
};

/// A body that slides, rotates and sinks, with steps that grow from 0.1 um to 0.3 mm and one jump.
RigidTransform moving_pose(int i) {
  const double s = 3e-4 * std::pow(i / 200.0, 4) * i;
  const double jump = i >= 120 && i < 125 ? 0.01 : 0;
  return {rotation({1, 2, 3}, 20 * s), {0.002 + 0.3 * s + jump, 0.001, 0.085 - 0.2 * s}};
}

TEST(DriftTracker, FieldsInMotionHaveTheBitsOfANewQuery) {
  const ContactBody A = make_sphere(0.05, 0.008, 1e6), B = make_sphere(0.05, 0.01, 3e6);
  ReusedQuery query;
  for (int i = 0; i < 200; ++i) query.check(A, B, moving_pose(i));
  EXPECT_GT(query.num_faces(), 20000U);
}

TEST(DriftTracker, RigidBodiesInMotionHaveTheBitsOfANewQuery) {
  const ContactBody A = make_sphere(0.05, 0.008, 1e6);
  const ContactBody B = RigidBody(make_sphere_surface(0.05, 0.01));
  ReusedQuery query;
  for (int i = 0; i < 200; ++i) query.check(A, B, moving_pose(i));
  EXPECT_GT(query.num_faces(), 20000U);
}

/// The boxes of elements end where the bodies end, so there are no candidates before the bodies
/// touch.
TEST(DriftTracker, FirstTouchIsNotMissed) {
  const ContactBody field = make_box({0.05, 0.05, 0.05}, 1e6),
                    other = make_box({0.02, 0.02, 0.02}, 1e6);
  const ContactBody rigid = RigidBody(make_box_surface({0.02, 0.02, 0.02}));
  for (const ContactBody& box : {rigid, other}) {
    ReusedQuery query;
    for (int i = 0; i < 60; ++i)
      query.check(field, box, translation(0.003, 0.001, 0.07023 - 1e-5 * i));
    EXPECT_GT(query.num_faces(), 0U);
  }
}

TEST(DriftTracker, ListsAreNotReusedForOtherOrSwappedBodies) {
  const ContactBody soft = make_sphere(0.05, 0.01, 1e6), other = make_sphere(0.05, 0.008, 1e6);
  const ContactBody rigid = RigidBody(make_sphere_surface(0.05, 0.01)), ground = HalfSpace{2e7};
  ReusedQuery query;
  const RigidTransform X = translation(0.002, 0.001, 0.085);
  for (const auto& [A, B] : {std::pair(soft, soft), std::pair(soft, other), std::pair(other, soft),
                             std::pair(soft, rigid), std::pair(rigid, soft), std::pair(soft, soft),
                             std::pair(ground, soft), std::pair(soft, soft)})
    for (int i = 0; i < 3; ++i) query.check(A, B, X);
  // A new body may get the address of the last one.
  for (const double hint : {0.01, 0.008, 0.02}) {
    const ContactBody body = make_sphere(0.05, hint, 1e6);
    query.check(soft, body, X);
  }
}

TEST(DriftTracker, ListsAreValidForSmallMotionsOnly) {
  const SearchPair pair = {.O = 1, .T = 2, .center_O = {}, .radius_O = 0.05, .width = 0.01};
  DriftTracker tracker;
  EXPECT_FALSE(tracker.advance_to(pair, kIdentity));
  EXPECT_TRUE(tracker.advance_to(pair, kIdentity));
  EXPECT_FALSE(tracker.advance_to(pair, translation(1e-5, 0, 0)));
  EXPECT_GT(tracker.drift(), 1e-5);
  EXPECT_TRUE(tracker.advance_to(pair, translation(1e-5 + 0.99 * tracker.drift(), 0, 0)));
  EXPECT_FALSE(tracker.advance_to(pair, translation(1e-5 - 1.01 * tracker.drift(), 0, 0)));
  // A rotation moves the farthest point too, and other bodies have their own list.
  tracker.forget();
  EXPECT_FALSE(tracker.advance_to(pair, kIdentity));
  EXPECT_FALSE(tracker.advance_to(pair, translation(1e-5, 0, 0)));
  EXPECT_FALSE(
      tracker.advance_to(pair, {rotation({0, 0, 1}, tracker.drift() / 0.04), {1e-5, 0, 0}}));
  SearchPair other_pair = pair;
  other_pair.O = 3;
  EXPECT_FALSE(tracker.advance_to(other_pair, translation(1e-5, 0, 0)));
  // There is no drift for motions as large as elements.
  tracker.forget();
  EXPECT_FALSE(tracker.advance_to(pair, kIdentity));
  EXPECT_FALSE(tracker.advance_to(pair, translation(0.01, 0, 0)));
  EXPECT_EQ(tracker.drift(), 0);
}

}  // namespace
}  // namespace stiction::geometry::drift_tracker_test
