// The force of anchors that were lost is shared among the contacts of the same geoms.
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>
#include "stiction/sim/memory/anchor_springs.hpp"

#include <gtest/gtest.h>

namespace stiction::sim::anchor_sharing_test {
namespace {

/// Returns a contact in the plane z = 0.
AnchorPoint make_point(const math::Vec3& position, const math::Vec3& stretch = {}) {
  return {.position = position, .normal = {0, 0, 1}, .stretch = stretch, .stiffness = 1e4};
}

/// Ratios of contacts with sliding friction 0.5, torsional friction 0.05 m and rolling friction.
SpringRatios make_ratios() {
  contact::Contact c;
  c.friction = {0.5, 0.5, 0.05, 0.02, 0.02};
  return SpringRatios(c);
}

double sum_energy(std::span<const AnchorPoint> points) {
  double energy = 0;
  for (const AnchorPoint& point : points) energy += calc_energy(point, make_ratios());
  return energy;
}

/// Force and moment about the origin of the springs of points.
std::array<math::Vec3, 2> sum_wrench(std::span<const AnchorPoint> points) {
  std::array<math::Vec3, 2> wrench;
  for (const AnchorPoint& point : points) {
    const math::Vec3 force = point.stretch * point.stiffness;
    wrench[0] += force;
    wrench[1] += cross(point.position, force) +
                 make_ratios().apply_to_twist(point.twist, point) * point.stiffness;
  }
  return wrench;
}

/// Shares the force of anchors among contacts.
/// @return the energy that is left
double share(std::vector<AnchorPoint> anchors, std::span<const double> weights,
             std::vector<AnchorPoint>* contacts, double spare = 0) {
  AnchorSharing sharing;
  sharing.start(make_ratios());
  for (AnchorPoint& anchor : anchors) sharing.release(&anchor);
  for (std::size_t i = 0; i < contacts->size(); ++i) sharing.take(&(*contacts)[i], weights[i]);
  return sharing.solve(spare);
}

std::vector<AnchorPoint> make_square() {
  return {make_point({1, 1, 0}), make_point({-1, 1, 0}), make_point({-1, -1, 0}),
          make_point({1, -1, 0})};
}

TEST(AnchorSharing, KeepsForceMomentAndEnergyOfALostAnchor) {
  AnchorPoint lost = make_point({0.2, 0.3, 0}, {1e-3, -2e-3, 0});
  lost.twist = {0, 0, 0.3};  // a part of the moment
  std::vector<AnchorPoint> contacts = make_square();
  const double left = share({lost}, std::array{1.0, 2.0, 3.0, 4.0}, &contacts);
  const auto before = sum_wrench({&lost, 1}), after = sum_wrench(contacts);
  EXPECT_GT(make_ratios().apply_to_twist(lost.twist, lost).z * lost.stiffness,
            1);  // not to be forgotten
  for (int i = 0; i < 2; ++i) EXPECT_LE(norm(after[i] - before[i]), 1e-6 * norm(before[i])) << i;
  const double energy = sum_energy({&lost, 1});
  EXPECT_LE(sum_energy(contacts), energy);
  EXPECT_NEAR(sum_energy(contacts) + left, energy, 1e-9 * energy);
}

/// A spring with a tenth of the stiffness has ten times the energy at the same force.
TEST(AnchorSharing, TellsTheForceThatIsLostForWantOfEnergy) {
  AnchorPoint lost = make_point({}, {1e-3, 0, 0}), contact = make_point({});
  const double force = lost.stiffness * lost.stretch.x;
  contact.stiffness = 0.1 * lost.stiffness;
  for (const double spare : {0.0, 1.0}) {
    AnchorPoint released = lost, taker = contact;
    AnchorSharing sharing;
    sharing.start(make_ratios());
    sharing.release(&released);
    sharing.take(&taker, 1);
    (void)sharing.solve(spare);
    EXPECT_NEAR(sharing.lost_force(), spare > 0 ? 0 : force * (1 - std::sqrt(0.1)), 1e-6 * force);
    EXPECT_NEAR(sharing.lost_force() + taker.stiffness * taker.stretch.x, force, 1e-6 * force);
  }
}

TEST(AnchorSharing, LosesAllThatNoContactTakes) {
  AnchorPoint lost = make_point({0.2, 0, 0}, {1e-3, 0, 0});
  AnchorSharing sharing;
  sharing.start(make_ratios());
  sharing.release(&lost);
  (void)sharing.solve(0);
  EXPECT_DOUBLE_EQ(sharing.lost_force(), 1e-3 * lost.stiffness);
}

TEST(AnchorSharing, GivesEachContactTheSameShareOfWhatItBears) {
  // The force acts where the strengths have their mean, as friction of a body at rest does.
  const std::array<double, 4> strengths{1, 2, 4, 1};
  math::Vec3 center;
  std::vector<AnchorPoint> contacts = make_square();
  for (int i = 0; i < 4; ++i) center += contacts[i].position * (strengths[i] / 8);
  (void)share({make_point(center, {2e-3, 0, 0})}, strengths, &contacts);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(contacts[i].stretch.x * 1e4, 20 * strengths[i] / 8, 1e-5);
    EXPECT_NEAR(contacts[i].stretch.y, 0, 1e-9);
  }
}

TEST(AnchorSharing, IsReducedWhereTheEnergyWouldGrow) {
  // A contact far away and stretched already would need more energy than was lost.
  const math::Vec3 present{3e-3, 0, 0};
  std::vector<AnchorPoint> contacts{make_point({1, 0, 0}, present)};
  EXPECT_NEAR(share({make_point({0, 0, 0}, {1e-3, 0, 0})}, std::array{1.0}, &contacts), 0, 1e-15);
  const math::Vec3 u = contacts[0].stretch;
  EXPECT_NEAR(dot(u, u), dot(present, present) + 1e-6, 1e-12);
  EXPECT_GT(u.x, present.x);
}

TEST(AnchorSharing, SpareEnergyBringsTheForceBack) {
  // Four springs need less energy than three. What they leave pays for the three that follow.
  const std::vector<AnchorPoint> three{make_point({1, 0, 0}, {1e-3, 0, 0}),
                                       make_point({-1, 1, 0}, {1e-3, 0, 0}),
                                       make_point({-1, -1, 0}, {1e-3, 0, 0})};
  std::vector<AnchorPoint> four = make_square(), again = three;
  for (AnchorPoint& point : again) point.stretch = {};
  const std::array<double, 4> weights{1, 1, 1, 1};
  const double spare = share(three, weights, &four);
  EXPECT_GT(spare, 0.1 * sum_energy(three));
  std::vector<AnchorPoint> poor = again;
  (void)share(four, weights, &again, spare);
  EXPECT_NEAR(norm(sum_wrench(again)[0]), 30, 1e-6);
  (void)share(four, weights, &poor);
  EXPECT_LT(norm(sum_wrench(poor)[0]), 29);
}

TEST(AnchorSharing, NothingTakesAShareWithoutAStiffness) {
  std::vector<AnchorPoint> contacts{make_point({1, 0, 0})};
  contacts[0].stiffness = 0;
  (void)share({make_point({0, 0, 0}, {1e-3, 0, 0})}, std::array{1.0}, &contacts);
  EXPECT_EQ(contacts[0].stretch, math::Vec3{});
}

}  // namespace
}  // namespace stiction::sim::anchor_sharing_test
