#include "stiction/formulations/rigid/projected_problem.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "support/dense_problem.hpp"

namespace stiction::formulations::projected_problem_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

int project_all(RigidFixture* fixture, double rank_tolerance = kRankTolerance) {
  return project(fixture->terms, fixture->system.whitened, fixture->iterate.sticking,
                 rank_tolerance, &fixture->system.projected);
}

Eigen::Map<const RowMajor> as_rows(const std::vector<double>& rows, std::size_t num_columns) {
  return {rows.data(), static_cast<Eigen::Index>(rows.size() / num_columns),
          static_cast<Eigen::Index>(num_columns)};
}

TEST(ProjectedProblem, ConstraintsRemoveTheDirectionsThatTheyFix) {
  // x is an equality, the contact sticks in x and y, and its normal is left.
  ContactProblem problem = make_particle({1, 2, 3});
  add_ground_contact(0, 0.5, &problem).bias = {0.5, 0.25, 0};
  add_row(RowKind::kEquality, 0, 0, &problem);
  contact::ModelParameters parameters;
  parameters.drop_separating = false;
  RigidFixture fixture(ContactModel::no_slip, problem, parameters);
  ASSERT_TRUE(fixture.whiten_all());
  EXPECT_EQ(project_all(&fixture), -1);
  ProjectedProblem& projected = fixture.system.projected;
  EXPECT_EQ(projected.sticking, std::vector<int>{0});
  // The equality comes first, so that the tangent that contradicts it is redundant.
  ASSERT_EQ(projected.bilateral.kept().size(), 2u);
  EXPECT_EQ(projected.bilateral.kept()[0], 0);
  // What is left of the tangents is along y.
  EXPECT_NEAR(std::abs(projected.bilateral.direction(projected.bilateral.kept()[1])[1]), 1, 1e-15);
  start_from(fixture.system.whitened.y_free, &projected);
  EXPECT_EQ(projected.u_hat, (std::vector<double>{0, -0.25, 3}));
  EXPECT_EQ(projected.N, (std::vector<double>{0, 0, 1}));
  EXPECT_TRUE(projected.T.empty());
}

TEST(ProjectedProblem, OnTheConstraintsProjectedRowsHaveTheSameVelocities) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  int num_sticking = 0, num_equalities = 0;
  for (const ContactModel model : {ContactModel::no_slip, ContactModel::stewart_trinkle}) {
    contact::ModelParameters parameters;
    parameters.drop_separating = false;
    for (int trial = 0; trial < 20; ++trial) {
      RigidFixture fixture(model, make_rigid_problem(&rng), parameters);
      ASSERT_TRUE(fixture.whiten_all());
      (void)project_all(&fixture);
      const WhitenedRows& rows = fixture.system.whitened.rows;
      ProjectedProblem& projected = fixture.system.projected;
      const auto n = static_cast<std::size_t>(fixture.terms.num_dofs());
      std::vector<double> y(n);
      for (double& x : y) x = normal(rng);
      start_from(y, &projected);
      const VectorXd u = support::to_vector(projected.u_hat);
      const auto expect_same = [&](const std::vector<double>& J, const std::vector<double>& b,
                                   const std::vector<double>& J_projected,
                                   const std::vector<double>& b_projected) {
        const VectorXd w = as_rows(J, n) * u, w_projected = as_rows(J_projected, n) * u;
        for (std::size_t i = 0; i < b.size(); ++i) {
          // A row of which nothing is left has at least 0.
          if (as_rows(J_projected, n).row(static_cast<Eigen::Index>(i)).isZero(0)) continue;
          EXPECT_NEAR(w[i] + b[i], w_projected[i] + b_projected[i], 1e-8 * (1 + w.norm()));
        }
      };
      expect_same(rows.N, rows.b_n, projected.N, projected.b_n);
      if (fixture.terms.law_has_friction())
        expect_same(rows.T, rows.b_t, projected.T, projected.b_t);
      expect_same(rows.F, rows.b_f, projected.F, projected.b_f);
      num_sticking += static_cast<int>(projected.sticking.size());
      num_equalities += fixture.terms.num_equalities();
    }
  }
  EXPECT_GT(num_sticking, 20);
  EXPECT_GT(num_equalities, 20);
}

TEST(ProjectedProblem, FindsAContactThatAnEqualityDrivesIntoTheGround) {
  ContactProblem problem = make_particle({0, 0, 0});
  add_ground_contact(1, 0.5, &problem);
  add_ground_contact(0, 0.5, &problem);
  add_row(RowKind::kEquality, 2, 1e-4, &problem);  // corrected by -10 mm/s
  RigidFixture fixture(ContactModel::viscous, problem);
  ASSERT_TRUE(fixture.whiten_all());
  EXPECT_EQ(project_all(&fixture), 1);
}

TEST(ProjectedProblem, TheLawGetsTheProjectedRows) {
  ContactProblem problem = make_particle({0, 0, 0});
  add_ground_contact(0, 0.7, &problem);
  contact::Row& dry = add_row(RowKind::kFriction, 1, 0, &problem);
  dry.bound = 3;
  dry.slip_tolerance = 1e-4;
  RigidFixture fixture(ContactModel::stewart_trinkle, problem);
  ASSERT_TRUE(fixture.whiten_all());
  EXPECT_EQ(project_all(&fixture), -1);
  start_from(fixture.system.whitened.y_free, &fixture.system.projected);
  FrictionConstants friction = fixture.terms.friction;
  friction.mu[0] = 0.1;
  const ReducedProblem reduced =
      make_reduced_problem(fixture.terms, friction, fixture.system.projected);
  EXPECT_EQ(reduced.num_columns, 3);
  EXPECT_EQ(reduced.num_contacts, 1);
  EXPECT_EQ(reduced.num_unilateral, 1);
  EXPECT_EQ(reduced.T.size(), 6u);
  EXPECT_EQ(reduced.F.size(), 3u);
  EXPECT_EQ(reduced.mu[0], 0.1);
  EXPECT_EQ(reduced.dry_bounds[0], 3);
  EXPECT_TRUE(reduced.guess.empty());
}

}  // namespace
}  // namespace stiction::formulations::projected_problem_test
