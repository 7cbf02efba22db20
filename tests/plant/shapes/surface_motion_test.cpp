// How the surfaces of two bodies have slipped on each other since the last step.
#include "stiction/plant/shapes/surface_motion.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::plant::surface_motion_test {
namespace {

using math::Vec3;

constexpr double kRadius = 0.05;  // of the ball [m]

/// Returns the motion of a ball that rolls on a plane at rest by an angle about y [rad], and slips
/// by a distance along x [m].
SurfaceMotion roll(double angle, double slip = 0) {
  const BodyPose plane{.position = {}, .quaternion = {1, 0, 0, 0}};
  const BodyPose before{.position = {0.3, 0, kRadius}, .quaternion = {1, 0, 0, 0}};
  const BodyPose now{.position = {0.3 + kRadius * angle + slip, 0, kRadius},
                     .quaternion = {std::cos(angle / 2), 0, std::sin(angle / 2), 0}};
  return {{plane, before}, {plane, now}};
}

Vec3 calc_slip(double angle, double slip = 0) {
  constexpr Vec3 kUp{0, 0, 1};
  return roll(angle, slip).calc_slip({0.3, 0, 0}, kUp, {0.3 + kRadius * angle + slip, 0, 0}, kUp);
}

TEST(SurfaceMotion, ABallThatRollsDoesNotSlip) {
  // Up to a third of a turn in a step. A series of the arc gave 1e-5 m at 1.
  for (const double angle : {-2.09, -1.0, 1e-6, 1e-3, 9.9e-3, 1.01e-2, 0.1, 0.5, 1.0, 1.57, 2.09})
    EXPECT_LE(norm(calc_slip(angle)), 1e-14 * (1 + std::abs(angle))) << angle;
}

TEST(SurfaceMotion, PosesTellTheSlipUpToAThirdOfATurn) {
  constexpr Vec3 kUp{0, 0, 1};
  for (const double angle : {-2.09, 0.0, 1.0, 2.09})
    EXPECT_TRUE(roll(angle, 0).tells_slip(kUp, kUp)) << angle;
  for (const double angle : {-2.1, 2.1, 3.0, 3.14, 4.1})
    EXPECT_FALSE(roll(angle, 0).tells_slip(kUp, kUp)) << angle;
}

TEST(SurfaceMotion, SlipIsMeasuredAlongTheArc) {
  for (const double angle : {0.0, 1e-3, 1e-2, 0.1}) {
    const Vec3 slip = calc_slip(angle, 1e-6);
    // The contact moves over the plane by the way of the ball, and over the ball by the arc.
    EXPECT_NEAR(slip.x, 1e-6, 1e-2 * angle * 1e-6 + 1e-16) << angle;
    EXPECT_EQ(slip.z, 0) << angle;
  }
}

TEST(SurfaceMotion, AContactThatJumpsTellsNoArc) {
  // MuJoCo lists a point of another face, 0.2 m away, whose normal is tilted by 0.5 rad.
  constexpr Vec3 kUp{0, 0, 1};
  const Vec3 tilted{std::sin(0.5), 0, std::cos(0.5)};
  EXPECT_EQ(norm(roll(0).calc_slip({0.3, 0, 0}, kUp, {0.5, 0, 0.05}, tilted)), 0);
}

}  // namespace
}  // namespace stiction::plant::surface_motion_test
