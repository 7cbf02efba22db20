#include "stiction/formulations/rigid/whitened_problem.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "formulations/rigid/rigid_fixture.hpp"
#include "support/dense_problem.hpp"

namespace stiction::formulations::whitened_problem_test {
namespace {

using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::SolveStatus;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// v = L^-T y_free.
VectorXd calc_free_velocities(const RigidFixture& fixture) {
  std::vector<double> v = fixture.system.whitened.y_free;
  fixture.system.whitened.whitening.to_v(v.data());
  return support::to_vector(v);
}

// Evaluates every kind of implicit force at the resulting velocities, with dense matrices.
TEST(WhitenedProblem, FreeMotionBalancesMomentumWithImplicitForces) {
  std::mt19937_64 rng(1);
  int num_viscous = 0, num_springs = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const ContactProblem problem = make_rigid_problem(&rng);
    for (int island = 0;; ++island) {
      contact::Islands islands;
      islands.find(problem);
      if (island == islands.size()) break;
      RigidFixture fixture(ContactModel::viscous, problem, {}, island);
      const RigidTerms& terms = fixture.terms;
      const support::DenseProblem dense(fixture.problem);
      ASSERT_TRUE(fixture.whiten_all());
      const VectorXd v = calc_free_velocities(fixture);
      const MatrixXd A =
          fixture.columns_of_island(fixture.columns_of_island(dense.A).transpose().eval());
      VectorXd imbalance = A * (v - support::to_vector(terms.v_star));
      for (const int r : terms.springs) {
        const contact::Row& row = terms.row(r);
        const MatrixXd j = fixture.columns_of_island(dense.rows[terms.problem_row(r)]);
        imbalance -= j.transpose() * ((row.target - (j * v)(0)) / row.regularization);
        ++num_springs;
      }
      for (int i = 0; i < terms.num_contacts(); ++i) {
        const Contact& c = terms.contact(i);
        if (!fixture.iterate.sticking.contains(i)) continue;
        const MatrixXd J = fixture.columns_of_island(dense.J[terms.problem_contact(i)]);
        for (int t = 0; t < 2; ++t) {
          const double slip = (J.row(t) * v)(0) + c.bias[t];
          imbalance +=
              J.row(t).transpose() * terms.problem->time_step * c.law.viscous_friction * slip;
        }
        num_viscous += c.law.viscous_friction > 0;
      }
      EXPECT_LE(imbalance.norm(), 1e-9 * (1 + (A * v).norm())) << trial << " " << island;
    }
  }
  EXPECT_GT(num_viscous, 20);
  EXPECT_GT(num_springs, 5);
}

TEST(WhitenedProblem, EqualitiesWithAStiffnessAreSprings) {
  // m (v - v*) = -k (v + b) of each dof.
  ContactProblem problem = make_particle({1, 2, 3});
  for (const int dof : {0, 2}) add_row(contact::RowKind::kEquality, dof, 1e-4, &problem);
  RigidFixture fixture(ContactModel::no_slip, problem);
  WhitenedProblem& whitened = fixture.system.whitened;
  for (const int r : fixture.terms.equalities)
    whitened.whitening.couple(fixture.terms.row_jacobian(r).dofs);
  const std::vector<double> stiffness = {4, 9};
  ASSERT_EQ(whiten(fixture.terms, fixture.iterate, stiffness, &whitened), SolveStatus::kConverged);
  const double b = fixture.iterate.gaps.equalities[0];
  EXPECT_NEAR(b, 0.01, 1e-15);
  const VectorXd v = calc_free_velocities(fixture);
  EXPECT_NEAR(v[0], (1 - 4 * b) / 5, 1e-14);
  EXPECT_NEAR(v[1], 2, 1e-14);
  EXPECT_NEAR(v[2], (3 - 9 * b) / 10, 1e-14);
  EXPECT_TRUE(whitened.rows.E.empty());
  EXPECT_TRUE(whitened.rows.b_e.empty());
  // Equalities without a stiffness are rows again.
  ASSERT_TRUE(fixture.whiten_all());
  EXPECT_EQ(whitened.rows.E.size(), 6u);
  EXPECT_EQ(whitened.rows.b_e, fixture.iterate.gaps.equalities);
}

TEST(WhitenedProblem, ConstantsComeFromSurfacesAndGaps) {
  ContactProblem problem = make_particle({0, 0, 0});
  add_ground_contact(2e-4, 0.5, &problem).bias = {1, 2, 3};
  add_row(contact::RowKind::kLimit, 0, -1, &problem);
  RigidFixture fixture(ContactModel::no_slip, problem);
  ASSERT_TRUE(fixture.whiten_all());
  WhitenedRows& rows = fixture.system.whitened.rows;
  EXPECT_EQ(rows.b_t, (std::vector<double>{1, 2}));
  ASSERT_EQ(rows.b_n.size(), 2u);
  EXPECT_NEAR(rows.b_n[0], 3.2, 1e-15);
  EXPECT_NEAR(rows.b_n[1], -0.1, 1e-15);
  drop_overlap_corrections(&fixture.iterate.gaps);
  set_constants(fixture.terms, fixture.iterate.gaps, &rows);
  EXPECT_NEAR(rows.b_n[0], 3.2, 1e-15);
  EXPECT_EQ(rows.b_n[1], 0);
}

TEST(WhitenedProblem, TangentsAreWhitenedOnlyIfTheyAreNeeded) {
  for (const auto& [model, size] :
       {std::pair{ContactModel::no_slip, 6u}, std::pair{ContactModel::viscous, 0u},
        std::pair{ContactModel::stewart_trinkle, 6u}}) {
    ContactProblem problem = make_particle({0, 0, 0});
    add_ground_contact(0, 0.5, &problem);
    RigidFixture fixture(model, problem);
    ASSERT_TRUE(fixture.whiten_all());
    EXPECT_EQ(fixture.system.whitened.rows.T.size(), size);
  }
}

TEST(WhitenedProblem, StatusTellsWhyWhiteningFails) {
  ContactProblem problem = make_particle({0, 0, 0});
  add_ground_contact(0, 0.5, &problem);
  RigidFixture fixture(ContactModel::no_slip, problem);
  const auto status = [&] {
    return whiten(fixture.terms, fixture.iterate, {}, &fixture.system.whitened);
  };
  fixture.terms.v_star[1] = NAN;
  EXPECT_EQ(status(), SolveStatus::kNotFinite);
  fixture.problem.A[0] = -1;
  EXPECT_EQ(status(), SolveStatus::kNotPositiveDefinite);
}

}  // namespace
}  // namespace stiction::formulations::whitened_problem_test
