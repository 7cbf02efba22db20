#include "stiction/plant/collision/touch_prediction.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "stiction/plant/repairs/convex_pair.hpp"
#include "support/scene.hpp"

namespace stiction::plant::touch_prediction_test {
namespace {

using support::Scene;

int num_collided = 0;

/// Counts the collisions of two spheres instead of computing them, while it lives.
class CollisionCounter {
 public:
  CollisionCounter() {
    num_collided = 0;
    place() = [](const mjModel*, mjData*, mjPreContact*, int, int, mjtNum) {
      ++num_collided;
      return 0;
    };
  }
  ~CollisionCounter() { place() = own_; }
  CollisionCounter(const CollisionCounter&) = delete;
  CollisionCounter& operator=(const CollisionCounter&) = delete;

 private:
  static mjfCollision& place() { return mjCOLLISIONFUNC[mjGEOM_SPHERE][mjGEOM_SPHERE]; }
  mjfCollision own_ = place();
};

constexpr double kRadius = 0.1, kHorizon = 0.06;  // [m], [s]

/// A sphere flies past another one that rests. Their nearest points at the start approach.
struct Pass {
  double offset;        // of the sphere's path from the center of the other one [m]
  double margin = 0;    // [m]
  double lever = 0;     // from the sphere's center to the center of mass [m]
  double spin = 0;      // about the axis of the lever [rad/s]
  double start = -0.5;  // along the path [m]
};

/// Returns true if the geoms may meet, so that the prediction collides them on their way.
bool may_meet(const Pass& pass) {
  const auto text = [](double x) { return std::to_string(x); };
  Scene scene(support::make_mjcf(
      "", "<worldbody><geom size='" + text(kRadius) + "'/><body><freejoint/><inertial pos='0 0 " +
              text(pass.lever) + "' mass='1' diaginertia='1 1 1'/><geom size='" + text(kRadius) +
              "'/></body></worldbody>"));
  mjData* d = scene.data;
  d->qpos[0] = pass.start;
  d->qpos[1] = pass.offset;
  d->qvel[0] = 10;
  d->qvel[5] = pass.spin;
  mj_fwdPosition(scene.model, d);
  d->ncon = 0;
  BodyVelocities velocities;
  velocities.calc(scene.model, d, d->qvel);
  mjContact con = {};
  con.geom[1] = 1;
  con.includemargin = pass.margin;
  const double distance = mju_norm3(d->qpos);
  double n[3];
  mju_scl3(n, d->qpos, 1 / distance);
  set_normal(n, &con);
  con.dist = distance - 2 * kRadius;
  mju_scl3(con.pos, d->qpos, 0.5);
  TouchPrediction prediction;
  CollisionRepair repair;
  const CollisionCounter counter;
  EXPECT_EQ(prediction.predict(scene.model, d, {&con, 1}, velocities, kHorizon, &repair, false),
            Meeting::kNone);
  EXPECT_TRUE(prediction.closes(con));
  return num_collided > 0;
}

/// The largest offset at which spheres may meet that do not turn [m].
constexpr double kLimit = 2 * kRadius + 2 * TouchPrediction::kSlop;
constexpr double kLittle = 1e-5;  // [m]

TEST(TouchPrediction, SpheresMayMeetIfTheirPathsAreAsNearAsTheirRadiiAndTheSlop) {
  EXPECT_TRUE(may_meet({.offset = kLimit - kLittle}));
  EXPECT_FALSE(may_meet({.offset = kLimit + kLittle}));
}

TEST(TouchPrediction, AMarginWidensTheReach) {
  EXPECT_TRUE(may_meet({.offset = kLimit + 0.01 - kLittle, .margin = 0.01}));
  EXPECT_FALSE(may_meet({.offset = kLimit + 0.01 + kLittle, .margin = 0.01}));
}

TEST(TouchPrediction, AGeomThatCirclesAboutItsBodysCenterMayMeetFartherAway) {
  const Pass pass{.offset = kLimit, .lever = 0.1, .spin = 10};
  const double arc = 0.5 * pass.spin * pass.spin * kHorizon * kHorizon * pass.lever;
  Pass inside = pass, outside = pass;
  inside.offset += arc - kLittle;
  outside.offset += arc + kLittle;
  EXPECT_TRUE(may_meet(inside));
  EXPECT_FALSE(may_meet(outside));
}

TEST(TouchPrediction, OnlyTheWayWithinTheHorizonCounts) {
  // The sphere ends before the nearest point of its path.
  const double end = 0.15, start = -(10 * kHorizon + end);
  const double limit = std::sqrt(kLimit * kLimit - end * end);
  EXPECT_TRUE(may_meet({.offset = limit - kLittle, .start = start}));
  EXPECT_FALSE(may_meet({.offset = limit + kLittle, .start = start}));
}

}  // namespace
}  // namespace stiction::plant::touch_prediction_test
