#include "stiction/formulations/rigid/conflict_fallbacks.hpp"

#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "support/solved_problem.hpp"

namespace stiction::formulations::conflict_fallbacks_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;
using Level = ConflictFallbacks::Level;

constexpr double kTimeStep = 1e-3;

/// An island without friction, whitened and ready for its fallbacks.
struct Island : RigidFixture {
  std::unique_ptr<RigidLaw> law = make_frictionless_law(numerics::LcpSolver::ppm_ratio);
  ConflictFallbacks fallbacks;

  explicit Island(const ContactProblem& problem) : RigidFixture(ContactModel::viscous, problem) {
    EXPECT_TRUE(whiten_all());
    fallbacks.start(law.get());
  }
  bool solve() {
    return fallbacks.solve(terms, system.whitened.y_free, &iterate, &system).is_solved();
  }
  bool relax(int row) { return fallbacks.relax(row, terms, &iterate, &system); }
  std::vector<double> velocities() const {
    std::vector<double> v = fallbacks.law_solver().solution.u;
    system.whitened.whitening.to_v(v.data());
    return v;
  }
};

/// Adds limits of a dof that are violated on both sides, so that both cannot be corrected.
void add_conflicting_limits(int dof, ContactProblem* problem) {
  for (const double column : {1.0, -1.0}) add_row(RowKind::kLimit, dof, -1e-4, problem, column);
}

TEST(ConflictFallbacks, WithoutAConflictAllCorrectionsAreMade) {
  ContactProblem problem = make_particle({0, 0, -1}, kTimeStep);
  add_ground_contact(-1e-4, 0.5, &problem);
  add_row(RowKind::kEquality, 0, 1e-4, &problem);
  Island island(problem);
  ASSERT_TRUE(island.solve());
  EXPECT_EQ(island.fallbacks.level(), Level::kAllCorrections);
  EXPECT_TRUE(island.fallbacks.has_corrections());
  EXPECT_FALSE(island.fallbacks.conflict().is_found);
  EXPECT_EQ(island.fallbacks.law_solver().num_solves, 1);
  EXPECT_EQ(island.fallbacks.law_solver().guess, std::vector<int>{0});
  const std::vector<double> v = island.velocities();
  EXPECT_NEAR(v[0], -0.01, 1e-14);  // gap_correction is 0.1
  EXPECT_NEAR(v[2], 0.01, 1e-14);
}

TEST(ConflictFallbacks, ContradictoryLimitsAreNotCorrected) {
  ContactProblem problem = make_particle({1, 0, 0}, kTimeStep);
  add_conflicting_limits(0, &problem);
  Island island(problem);
  ASSERT_TRUE(island.solve());
  EXPECT_EQ(island.fallbacks.level(), Level::kNoCorrections);
  EXPECT_FALSE(island.fallbacks.has_corrections());
  EXPECT_TRUE(island.fallbacks.conflict().is_found);
  EXPECT_EQ(island.iterate.gaps.limits, (std::vector<double>{0, 0}));
  EXPECT_NEAR(island.velocities()[0], 0, 1e-12);
}

TEST(ConflictFallbacks, EqualitiesAreCorrectedWhereOverlapsAreNot) {
  ContactProblem problem = make_particle({0, 0, 0}, kTimeStep);
  add_conflicting_limits(0, &problem);
  add_row(RowKind::kEquality, 1, 1e-4, &problem);
  Island island(problem);
  ASSERT_TRUE(island.solve());
  EXPECT_EQ(island.fallbacks.level(), Level::kEqualities);
  EXPECT_TRUE(island.fallbacks.has_corrections());
  const std::vector<double> v = island.velocities();
  EXPECT_NEAR(v[0], 0, 1e-12);
  EXPECT_NEAR(v[1], -0.01, 1e-14);
}

TEST(ConflictFallbacks, OnlyAnEqualityThatDrivesIntoTheGroundIsRelaxed) {
  ContactProblem problem = make_particle({0, 0, 0}, kTimeStep);
  add_ground_contact(0, 0.5, &problem);
  for (const int dof : {0, 2}) add_row(RowKind::kEquality, dof, 1e-4, &problem);
  Island island(problem);
  ASSERT_TRUE(island.solve());
  EXPECT_EQ(island.fallbacks.level(), Level::kRelaxedEqualities);
  EXPECT_TRUE(island.fallbacks.conflict().is_found);
  EXPECT_EQ(island.fallbacks.conflict().contact, 0);
  EXPECT_EQ(island.fallbacks.conflict().row, -1);
  const std::vector<double> v = island.velocities();
  EXPECT_NEAR(v[0], -0.01, 1e-7);  // springs yield by a millionth
  EXPECT_NEAR(v[2], 0, 1e-7);
}

TEST(ConflictFallbacks, RelaxingEqualitiesLeavesTheSystemAsItIs) {
  ContactProblem problem = make_particle({0, 0, 0}, kTimeStep);
  add_ground_contact(0, 0.5, &problem);
  add_row(RowKind::kEquality, 2, 1e-4, &problem);
  Island island(problem);
  const WhitenedProblem before = island.system.whitened;
  ASSERT_TRUE(island.relax(0));
  EXPECT_EQ(island.fallbacks.level(), Level::kRelaxedEqualities);
  EXPECT_EQ(island.system.whitened.y_free, before.y_free);
  EXPECT_EQ(island.system.whitened.rows.N, before.rows.N);
  EXPECT_EQ(island.system.whitened.rows.E, before.rows.E);
  EXPECT_NE(island.system.whitened.rows.b_e, before.rows.b_e);
}

/// A particle on the plane y = 0, and an equality that corrects y at an angle to it: the correction
/// moves the particle along x, 20 times as fast. Nothing hinders its motion along z.
ContactProblem make_wedge(double free_speed) {
  ContactProblem problem = make_particle({0, 0, free_speed}, kTimeStep);
  add_row(RowKind::kEquality, 1, 0, &problem);
  contact::Row& row = add_row(RowKind::kEquality, 0, 1e-4, &problem, 0.05);
  row.num_columns = 2;
  problem.row_dof.push_back(1);
  problem.row_columns.push_back(1);
  return problem;
}

TEST(ConflictFallbacks, SlowCorrectionsDoNotDependOnFreeMotion) {
  // The correction of 0.01 m/s, by the length of its row.
  const double alone = 0.01 / std::hypot(1, 0.05);
  for (const double free_speed : {0.0, 1.0, 50.0, 1000.0}) {
    support::SolvedProblem solved(ContactModel::no_slip, make_wedge(free_speed));
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok);
    EXPECT_NEAR(solved.solution.v[0], -kSlowdownMargin * kWedgeLeverage * alone,
                1e-12 * (1 + free_speed * free_speed));
    EXPECT_NEAR(solved.solution.v[2], free_speed, 1e-12 * free_speed);
  }
}

TEST(ConflictFallbacks, TheLastLevelWidensTheRankTolerance) {
  ContactProblem problem = make_particle({0, 0, 0}, kTimeStep);
  add_conflicting_limits(0, &problem);
  Island island(problem);
  EXPECT_EQ(island.fallbacks.rank_tolerance(), kRankTolerance);
  ASSERT_TRUE(island.relax(1));
  EXPECT_EQ(island.fallbacks.conflict().row, 1);
  ASSERT_TRUE(island.relax(-1));
  EXPECT_EQ(island.fallbacks.level(), Level::kWideRank);
  EXPECT_EQ(island.fallbacks.rank_tolerance(), kWideRankTolerance);
  EXPECT_FALSE(island.relax(-1));
  // The next step starts with all corrections again.
  island.fallbacks.start(island.law.get());
  EXPECT_EQ(island.fallbacks.level(), Level::kAllCorrections);
  EXPECT_FALSE(island.fallbacks.conflict().is_found);
}

}  // namespace
}  // namespace stiction::formulations::conflict_fallbacks_test
