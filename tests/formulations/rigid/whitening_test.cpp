#include "stiction/formulations/rigid/whitening.hpp"

#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "formulations/rigid/rigid_fixture.hpp"
#include "support/dense_problem.hpp"

namespace stiction::formulations::whitening_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Computes the inverse of the factor L, column by column.
MatrixXd calc_inverse_factor(const Whitening& whitening, int size) {
  MatrixXd inverse = MatrixXd::Identity(size, size);
  for (int i = 0; i < size; ++i) whitening.whiten(inverse.col(i).data());
  return inverse;
}

/// Calls check(fixture, dense problem) for every island of random problems, which include trees
/// with coupled blocks.
template <class Check>
void for_each_island(int num_problems, const Check& check) {
  std::mt19937_64 rng(5);
  for (int trial = 0; trial < num_problems; ++trial) {
    const ContactProblem problem = make_rigid_problem(&rng);
    const support::DenseProblem dense = [&] {
      RigidFixture derived(ContactModel::no_slip, problem);
      return support::DenseProblem(derived.problem);
    }();
    contact::Islands islands;
    islands.find(problem);
    for (int island = 0; island < islands.size(); ++island) {
      RigidFixture fixture(ContactModel::no_slip, problem, {}, island);
      check(fixture, dense);
    }
  }
}

TEST(Whitening, MakesAWithImplicitForcesTheIdentity) {
  for_each_island(10, [](RigidFixture& fixture, const support::DenseProblem& dense) {
    const RigidTerms& terms = fixture.terms;
    MatrixXd A = fixture.columns_of_island(fixture.columns_of_island(dense.A).transpose().eval());
    Whitening& whitening = fixture.system.whitened.whitening;
    for (int r = 0; r < terms.island.num_rows(); ++r) whitening.couple(terms.row_jacobian(r).dofs);
    whitening.begin(fixture.problem);
    for (int r = 0; r < terms.island.num_rows(); ++r) {
      const MatrixXd j = fixture.columns_of_island(dense.rows[terms.problem_row(r)]);
      A += (1 + r) * j.transpose() * j;
      whitening.add(terms.row_jacobian(r), 0, 1 + r);
    }
    ASSERT_TRUE(whitening.factor());
    const int n = terms.num_dofs();
    const MatrixXd L_inverse = calc_inverse_factor(whitening, n);
    EXPECT_LE((L_inverse * A * L_inverse.transpose() - MatrixXd::Identity(n, n)).norm(), 1e-9);
  });
}

TEST(Whitening, RowsAndVelocitiesAreThoseOfTheFactor) {
  for_each_island(10, [](RigidFixture& fixture, const support::DenseProblem& dense) {
    const RigidTerms& terms = fixture.terms;
    Whitening& whitening = fixture.system.whitened.whitening;
    whitening.begin(fixture.problem);
    ASSERT_TRUE(whitening.factor());
    const int n = terms.num_dofs();
    const MatrixXd L_inverse = calc_inverse_factor(whitening, n);
    const auto expect_whitened = [&](const VectorXd& row, const MatrixXd& j) {
      const VectorXd expected = L_inverse * j.transpose();
      EXPECT_LE((row - expected).norm(), 1e-12 * (1 + expected.norm()));
    };
    VectorXd row(n);
    for (int r = 0; r < terms.island.num_rows(); ++r) {
      whitening.whiten(terms.row_jacobian(r), row.data());
      expect_whitened(row, fixture.columns_of_island(dense.rows[terms.problem_row(r)]));
    }
    VectorXd t1(n), t2(n), normal(n);
    for (int i = 0; i < terms.num_contacts(); ++i) {
      double* const all[] = {t1.data(), t2.data(), normal.data()};
      whitening.whiten(terms.contact_jacobian(i), 0, all);
      const MatrixXd J = fixture.columns_of_island(dense.J[terms.problem_contact(i)]);
      expect_whitened(t1, J.row(0));
      expect_whitened(t2, J.row(1));
      expect_whitened(normal, J.row(2));
      double* const normal_alone[] = {nullptr, nullptr, row.data()};
      whitening.whiten(terms.contact_jacobian(i), 2, normal_alone);
      EXPECT_EQ(row, normal);
    }
    // J v = (J L^-T)(L^T v).
    VectorXd v = VectorXd::LinSpaced(n, -1, 2), y = v;
    whitening.to_y(y.data());
    for (int i = 0; i < terms.num_contacts(); ++i) {
      double* const all[] = {t1.data(), t2.data(), normal.data()};
      whitening.whiten(terms.contact_jacobian(i), 0, all);
      const math::Vector3 v_c = terms.contact_jacobian(i).multiply(v);
      EXPECT_NEAR(normal.dot(y), v_c.z(), 1e-10 * (1 + v_c.norm()));
    }
    whitening.to_v(y.data());
    EXPECT_LE((y - v).norm(), 1e-10 * v.norm());
  });
}

}  // namespace
}  // namespace stiction::formulations::whitening_test
