#include "stiction/formulations/rigid/impacts.hpp"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations::impacts_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;
using contact::SolveStatus;

constexpr double kRestitution = 0.5;

/// Makes a particle of 1 kg that falls on the ground at 2 m/s and slips at the speed `slip`.
ContactProblem make_falling(double slip = 0, double mu = 0) {
  ContactProblem problem = make_particle({0, 0, 0});
  problem.v0 = {slip, 0, -2};
  add_ground_contact(0, mu, &problem).law.restitution = kRestitution;
  return problem;
}

/// Computes the motion without restitution, and then with it.
struct Impact : RigidFixture {
  std::unique_ptr<RigidLaw> law;
  ConflictFallbacks fallbacks;
  ImpactPhases phases;
  RigidMotion motion;
  ImpactResult result;

  Impact(ContactModel model, const ContactProblem& problem) : RigidFixture(model, problem) {
    law = terms.law_has_friction() ? make_friction_polygon_law(4)
                                   : make_frictionless_law(numerics::LcpSolver::ppm_ratio);
    fallbacks.start(law.get());
    EXPECT_TRUE(whiten_all());
    EXPECT_TRUE(fallbacks.solve(terms, system.whitened.y_free, &iterate, &system).is_solved());
    expand_solution(terms, iterate, fallbacks.law_solver().solution.impulses, &system, &motion);
    result = resolve_impacts(terms, &fallbacks, &iterate, &system, &phases, &motion);
    EXPECT_EQ(result.status, SolveStatus::kConverged);
  }
};

TEST(Impacts, AParticleReboundsWithItsShareOfTheSpeed) {
  const Impact impact(ContactModel::viscous, make_falling());
  EXPECT_TRUE(impact.result.has_impacts);
  EXPECT_NEAR(impact.motion.v[2], 2 * kRestitution, 1e-14);
  EXPECT_NEAR(impact.motion.contact_impulses[0][2], 2 * (1 + kRestitution), 1e-14);
  EXPECT_EQ(impact.phases.compressed[2], 0);
}

TEST(Impacts, AGapDoesNotSlowTheReboundWithoutForces) {
  ContactProblem problem = make_falling();
  problem.contacts[0].phi0 = 1e-4;  // would be closed at 0.1 m/s
  const Impact impact(ContactModel::viscous, problem);
  EXPECT_EQ(impact.phases.hits[0], 1);
  EXPECT_NEAR(impact.motion.v[2], 2 * kRestitution, 1e-14);
}

TEST(Impacts, AReboundHasItsShareOfTheEnergyAboveTheSurface) {
  // Before and after the step, semi-implicit steps in free fall conserve v^2 / 2 + g (z - v dt /
  // 2).
  constexpr double kGravityOfStep = 0.02;  // g dt [m/s]
  ContactProblem problem = make_falling();
  const double dt = problem.time_step, gravity = kGravityOfStep / dt;
  problem.free_impulse[2] = -kGravityOfStep;
  const auto energy = [&](double z, double v) {
    return 0.5 * v * v + gravity * (z - 0.5 * v * dt);
  };
  for (const double gap : {0.0, 5e-4, 1.9e-3}) {
    for (const double e : {0.3, 0.8, 1.0}) {
      problem.contacts[0].phi0 = gap;
      problem.contacts[0].law.restitution = e;
      const Impact impact(ContactModel::viscous, problem);
      const double v = impact.motion.v[2];
      EXPECT_GT(v, 0);
      EXPECT_NEAR(energy(gap + v * dt, v), e * e * energy(gap, -2), 1e-12) << gap << " " << e;
    }
  }
}

TEST(Impacts, ABounceLowerThanTheGapIsNone) {
  ContactProblem problem = make_falling();
  problem.contacts[0].phi0 = 2e-3;
  problem.contacts[0].law.restitution = 0.01;
  problem.free_impulse[2] = -0.5;
  const Impact impact(ContactModel::viscous, problem);
  EXPECT_FALSE(impact.result.has_impacts);
  EXPECT_NEAR(impact.motion.v[2], -2e-3 / problem.time_step, 1e-12);
}

TEST(Impacts, ContactsThatRestDoNotRebound) {
  ContactProblem problem = make_falling();
  problem.v0 = {0, 0, 0};
  problem.free_impulse[2] = -0.01;  // gravity
  const Impact impact(ContactModel::viscous, problem);
  EXPECT_FALSE(impact.result.has_impacts);
  EXPECT_EQ(impact.phases.hits[0], 0);
  EXPECT_NEAR(impact.motion.v[2], 0, 1e-14);
}

TEST(Impacts, ARowThatClosesInTheReboundIsStopped) {
  ContactProblem problem = make_falling();
  add_row(RowKind::kLimit, 2, 0, &problem, -1);  // z may not rise
  const Impact impact(ContactModel::viscous, problem);
  EXPECT_TRUE(impact.result.has_impacts);
  EXPECT_NEAR(impact.motion.v[2], 0, 1e-14);
  EXPECT_NEAR(impact.motion.row_impulses[0], 2 * kRestitution, 1e-14);
  EXPECT_NEAR(impact.motion.contact_impulses[0][2], 2 * (1 + kRestitution), 1e-14);
}

TEST(Impacts, FrictionActsOnlyInCompression) {
  constexpr double kMu = 0.1;
  const Impact impact(ContactModel::stewart_trinkle, make_falling(1, kMu));
  EXPECT_NEAR(impact.motion.v[0], 1 - kMu * 2, 1e-12);
  EXPECT_NEAR(impact.motion.v[2], 2 * kRestitution, 1e-12);
}

TEST(Impacts, DryFrictionOfJointsActsWithTheForcesOfTheStep) {
  ContactProblem problem = make_falling(1);
  constexpr double kBound = 0.25;
  contact::Row& row = add_row(RowKind::kFriction, 0, 0, &problem);
  row.bound = kBound;
  row.slip_tolerance = 1e-4;
  const Impact impact(ContactModel::viscous, problem);
  EXPECT_EQ(impact.motion.row_impulses[0], -kBound);
  EXPECT_NEAR(impact.motion.v[0], 1 - kBound, 1e-12);
}

TEST(ReboundShare, ReturnsAllOrTheEnergyThatCompressionTook) {
  EXPECT_EQ(calc_rebound_share(1, 0, 0.5), 1);
  EXPECT_EQ(calc_rebound_share(1, 0.5, 0.5), 1);
  for (const double taken : {0.0, 0.5, 2.0}) {
    for (const double separating : {-1.0, 0.0, 3.0}) {
      for (const double moving : {1.0, 8.0}) {
        const double share = calc_rebound_share(taken, separating, moving);
        const double given = share * separating + share * share * moving;
        EXPECT_NEAR(given, std::min(taken, separating + moving), 1e-12)
            << taken << " " << separating << " " << moving;
      }
    }
  }
}

TEST(ReboundShare, IsZeroIfCompressionTookNoEnergy) {
  EXPECT_EQ(calc_rebound_share(-1, 3, 1), 0);
  EXPECT_EQ(calc_rebound_share(-1, 0, 0), 0);  // nothing moves
}

}  // namespace
}  // namespace stiction::formulations::impacts_test
