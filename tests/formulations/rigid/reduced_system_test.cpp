#include "stiction/formulations/rigid/reduced_system.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "support/dense_problem.hpp"

namespace stiction::formulations::reduced_system_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Makes random impulses of the law.
RigidImpulses make_impulses(const RigidTerms& terms, std::mt19937_64* rng) {
  std::exponential_distribution<double> exponential;
  RigidImpulses impulses;
  impulses.unilateral.resize(terms.num_unilateral());
  if (terms.law_has_friction()) impulses.tangents.resize(2 * terms.num_contacts());
  impulses.dry.resize(terms.dry_joints.size());
  for (auto* values : {&impulses.unilateral, &impulses.tangents, &impulses.dry})
    for (double& x : *values) x = exponential(*rng);
  return impulses;
}

// For any impulses of the law, the sum of all impulses is the change of momentum.
TEST(ExpandSolution, ImpulsesOfAllRowsBalanceMomentum) {
  std::mt19937_64 rng(1);
  int num_bilateral = 0;
  for (const ContactModel model :
       {ContactModel::no_slip, ContactModel::viscous, ContactModel::anitescu_potra}) {
    contact::ModelParameters parameters;
    parameters.drop_separating = false;
    for (int trial = 0; trial < 20; ++trial) {
      RigidFixture fixture(model, make_rigid_problem(&rng), parameters);
      const RigidTerms& terms = fixture.terms;
      const support::DenseProblem dense(fixture.problem);
      ASSERT_TRUE(fixture.whiten_all());
      (void)project(terms, fixture.system.whitened, fixture.iterate.sticking, kRankTolerance,
                    &fixture.system.projected);
      RigidMotion motion;
      expand_solution(terms, fixture.iterate, make_impulses(terms, &rng), &fixture.system, &motion);

      const MatrixXd A =
          fixture.columns_of_island(fixture.columns_of_island(dense.A).transpose().eval());
      const VectorXd v = support::to_vector(motion.v);
      VectorXd imbalance = A * (v - support::to_vector(terms.v_star));
      for (int i = 0; i < terms.num_contacts(); ++i) {
        const MatrixXd J = fixture.columns_of_island(dense.J[terms.problem_contact(i)].topRows(3));
        imbalance -= J.transpose() * Eigen::Map<VectorXd>(motion.contact_impulses[i].data(), 3);
      }
      for (int r = 0; r < terms.island.num_rows(); ++r) {
        const MatrixXd j = fixture.columns_of_island(dense.rows[terms.problem_row(r)]);
        imbalance -= j.transpose() * motion.row_impulses[r];
      }
      const double largest = fixture.system.projected.bilateral.calc_largest_impulse();
      EXPECT_LE(imbalance.norm(), 1e-9 * (1 + (A * v).norm() + largest)) << trial;

      // Constraints that were kept hold.
      for (const int k : fixture.system.projected.bilateral.kept()) {
        const int tangent = k - terms.num_equalities();
        double error = 0;
        if (tangent < 0) {
          error = terms.calc_row_velocity(terms.equalities[k], motion.v) +
                  fixture.iterate.gaps.equalities[k];
        } else {
          const int contact = terms.contacts[fixture.system.projected.sticking[tangent / 2]];
          const auto [x, y] = fixture.system.projected.bilateral.direction(k);
          const auto& slip = motion.contact_velocities[contact];
          error = x * slip.x() + y * slip.y();
        }
        EXPECT_NEAR(error, 0, 1e-8 * (1 + v.norm()));
        ++num_bilateral;
      }
    }
  }
  EXPECT_GT(num_bilateral, 100);
}

TEST(ExpandSolution, ContactVelocitiesIncludeThoseOfTheSurfaces) {
  ContactProblem problem = make_particle({1, 2, 3});
  add_ground_contact(0, 0.5, &problem).bias = {10, 20, 30};
  add_ground_contact(1, 0.5, &problem);  // takes no part
  RigidFixture fixture(ContactModel::anitescu_potra, problem);
  RigidMotion motion;
  motion.v = {1, 2, 3};
  calc_contact_velocities(fixture.terms, &motion);
  ASSERT_EQ(motion.contact_velocities.size(), 2u);
  EXPECT_EQ(motion.contact_velocities[0], math::Vector3(11, 22, 33));
  EXPECT_EQ(motion.contact_velocities[1], math::Vector3(1, 2, 3));
}

}  // namespace

}  // namespace stiction::formulations::reduced_system_test
