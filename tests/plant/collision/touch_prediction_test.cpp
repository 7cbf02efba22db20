#include "stiction/plant/collision/touch_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/contact/gaps.hpp"
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

/// Two boxes with flush faces that turn about one axis. What holds them together is no part of the
/// prediction: their centers move along lines, and so they part.
struct Turning {
  double approach;  // besides the motion as one body [m/s]
  double distance;  // between the faces [m]
};

constexpr double kTurn = 3, kStep = 2e-3, kHalf = 0.02;  // [rad/s], [s], [m]
/// The speed at which the boxes part at the end of the step [m/s].
constexpr double kParting = kTurn * kTurn * kStep * 2 * kHalf;

/// Returns how the boxes meet, and whether their contacts close.
std::pair<Meeting, bool> meet(const Turning& turning) {
  Scene scene(support::make_mjcf("", R"(<worldbody>
<body><freejoint/><geom type="box" size=".02 .02 .02" margin="1e-6"/></body>
<body><freejoint/><geom type="box" size=".02 .02 .02" margin="1e-6"/></body></worldbody>)"));
  mjData* d = scene.data;
  d->qpos[7] = 2 * kHalf + turning.distance;
  d->qvel[5] = d->qvel[11] = kTurn;
  d->qvel[6] = -turning.approach;
  d->qvel[7] = kTurn * d->qpos[7];
  mj_fwdPosition(scene.model, d);
  EXPECT_EQ(d->ncon, 4);
  BodyVelocities velocities;
  velocities.calc(scene.model, d, d->qvel);
  TouchPrediction prediction;
  CollisionRepair repair;
  const std::vector<mjContact> listed(d->contact, d->contact + d->ncon);
  const Meeting meeting =
      prediction.predict(scene.model, d, listed, velocities, kStep, &repair, false);
  return {meeting, std::ranges::all_of(
                       listed, [&](const mjContact& con) { return prediction.closes(con); })};
}

TEST(TouchPrediction, BodiesThatTurnAsOneKeepTheContactsThatPressThem) {
  const double least = contact::kTouchDistance / kStep;  // an approach that counts [m/s]
  for (const double distance : {-1e-8, 1e-8}) {
    // Along lines they would have parted by the end of the step.
    for (const double approach : {least + 0.1 * kParting, least + 0.9 * kParting}) {
      EXPECT_EQ(meet({approach, distance}), std::pair(Meeting::kAsListed, false)) << approach;
    }
    for (const double approach : {least + 1.1 * kParting, 0.1})
      EXPECT_EQ(meet({approach, distance}), std::pair(Meeting::kAsListed, true)) << approach;
  }
}

}  // namespace
}  // namespace stiction::plant::touch_prediction_test
