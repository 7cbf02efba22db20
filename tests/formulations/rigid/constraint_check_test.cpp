#include "stiction/formulations/rigid/constraint_check.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations::constraint_check_test {
namespace {

using contact::ContactModel;
using contact::RowKind;

/// A particle that moves at v, with one contact and one limit of x >= 0.
struct MovingParticle : RigidFixture {
  RigidMotion motion;

  explicit MovingParticle(double phi0 = 0, ContactModel model = ContactModel::no_slip)
      : RigidFixture(model, [phi0] {
          contact::ContactProblem problem = make_particle({0, 0, 0});
          add_ground_contact(phi0, 0.5, &problem);
          add_row(RowKind::kLimit, 0, 0, &problem);
          return problem;
        }()) {}
  bool keeps(const std::vector<double>& v) {
    motion.v = motion.y = v;
    EXPECT_TRUE(whiten_all());
    system.whitened.whitening.to_y(motion.y.data());
    EXPECT_EQ(project(terms, system.whitened, iterate.sticking, kRankTolerance, &system.projected),
              -1);
    calc_contact_velocities(terms, &motion);
    return keeps_constraints(terms, iterate, system, motion);
  }
};

TEST(KeepsConstraints, PenetrationIsAllowedWithinTheToleranceOfTheFastestVelocity) {
  MovingParticle particle;
  EXPECT_TRUE(particle.keeps({0, 0, 3}));
  EXPECT_TRUE(particle.keeps({0, 0, -0.9 * kConstraintTolerance}));
  EXPECT_FALSE(particle.keeps({0, 0, -1.1 * kConstraintTolerance}));
  EXPECT_TRUE(particle.keeps({0, 100, -90 * kConstraintTolerance}));
  EXPECT_FALSE(particle.keeps({0, 100, -110 * kConstraintTolerance}));
}

TEST(KeepsConstraints, GapsMayCloseAndOverlapsMayRemain) {
  MovingParticle gap(1e-4);  // closes at 0.1 m/s within the step
  EXPECT_TRUE(gap.keeps({0, 0, -0.1}));
  EXPECT_FALSE(gap.keeps({0, 0, -0.11}));
  MovingParticle overlap(-1e-4);
  EXPECT_LT(overlap.iterate.gaps.contacts[0], 0);
  EXPECT_TRUE(overlap.keeps({0, 0, 0}));
}

TEST(KeepsConstraints, LimitsAreNotPassed) {
  MovingParticle particle;
  EXPECT_TRUE(particle.keeps({1, 0, 0}));
  EXPECT_FALSE(particle.keeps({-1, 0, 0}));
}

TEST(KeepsConstraints, OnlyStickingBilateralTangentsMustBeAtRest) {
  MovingParticle particle;
  EXPECT_TRUE(particle.keeps({0, 1, 0}));
  particle.iterate.sticking.start(particle.terms, true);
  EXPECT_FALSE(particle.keeps({0, 1, 0}));
  MovingParticle viscous(0, ContactModel::viscous);
  EXPECT_TRUE(viscous.iterate.sticking.contains(0));
  EXPECT_TRUE(viscous.keeps({0, 1, 0}));
}

/// One unilateral row of this length, with the constant b, in a space of one dimension.
ReducedSystem make_row_system(double length, double b) {
  ReducedSystem system;
  system.whitened.y_free = {0};
  system.whitened.rows.N = {length};
  system.whitened.rows.b_n = {b};
  system.projected.bilateral.start(1);
  system.projected.bilateral.eliminate(std::array{0}, kRankTolerance, nullptr);
  return system;
}

TEST(CalcFastest, OverlapsMayMakeBodiesThreeTimesAsFastAsOneAlone) {
  constexpr double kCorrection = 0.1, kLength = 0.5;
  ReducedSystem system = make_row_system(kLength, -kCorrection);
  const double alone = kCorrection / kLength;
  EXPECT_NEAR(calc_fastest(system.whitened, 1), kOverlapLeverage * alone, 1e-14);
  // Half of a correction comes from a whole one that is twice as large.
  EXPECT_NEAR(calc_fastest(system.whitened, 0.5), 2 * kOverlapLeverage * alone, 1e-14);
  // The motion without corrections is normal to what they add.
  system.whitened.y_free = {2};
  EXPECT_NEAR(calc_fastest(system.whitened, 1), std::hypot(2, kOverlapLeverage * alone), 1e-14);
}

TEST(CalcFastest, OverlapsAndEqualitiesAddUp) {
  ReducedSystem system = make_row_system(0.5, -0.1);
  system.whitened.y_free = {7};
  system.whitened.rows.E = {2};
  system.whitened.rows.b_e = {0.3};
  system.whitened.rows.vector_e = {0};
  const double added = kOverlapLeverage * 0.1 / 0.5 + kWedgeLeverage * 0.3 / 2;
  EXPECT_NEAR(calc_fastest(system.whitened, 1), std::hypot(7, added), 1e-13);
}

TEST(CalcFastest, WhatDrivesFrictionAddsUp) {
  ReducedSystem system = make_row_system(0.5, 0);
  system.whitened.y_free = {7};
  system.whitened.rows.T = {0.5, 0.25};
  system.whitened.rows.b_t = {0, -0.1};
  system.whitened.rows.F = {2, 4};
  system.whitened.rows.b_f = {0.3, -0.2};
  const double added = kWedgeLeverage * (0.1 / 0.25 + 0.3 / 2 + 0.2 / 4);
  EXPECT_NEAR(calc_fastest(system.whitened, 1), std::hypot(7, added), 1e-13);
}

TEST(CalcFastest, GapsAllowNoSpeed) {
  EXPECT_EQ(calc_fastest(make_row_system(1, 5).whitened, 1), 0);
}

TEST(HasHugeImpulses, ComparesThemWithTheMomentum) {
  ReducedSystem system = make_row_system(2, 0);
  const std::vector<double> large = {0.49 * kLargestImpulse}, too_large = {0.51 * kLargestImpulse};
  EXPECT_FALSE(has_huge_impulses(system, large));
  EXPECT_TRUE(has_huge_impulses(system, too_large));
  system.whitened.y_free = {9};  // a momentum that such impulses may belong to
  EXPECT_FALSE(has_huge_impulses(system, too_large));
}

TEST(FindMissedEquality, ReturnsTheFirstOneBeyondTheTolerance) {
  contact::ContactProblem problem = make_particle({0, 0, 0});
  for (const int dof : {0, 1, 2}) add_row(RowKind::kEquality, dof, 1e-4, &problem);
  const RigidFixture fixture(ContactModel::no_slip, problem);
  const GapTerms& gaps = fixture.iterate.gaps;
  const double v = -gaps.equalities[0];  // as asked for
  ASSERT_LT(v, 0);
  RigidMotion motion;
  motion.v = {v, v + 0.5 * kMissedVelocity, v};
  EXPECT_EQ(find_missed_equality(fixture.terms, gaps, motion), -1);
  motion.v = {v, v + 2 * kMissedVelocity, v - 2 * kMissedVelocity};
  EXPECT_EQ(find_missed_equality(fixture.terms, gaps, motion), 1);
}

}  // namespace
}  // namespace stiction::formulations::constraint_check_test
