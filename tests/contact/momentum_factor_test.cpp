#include "stiction/contact/momentum_factor.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "support/dense_problem.hpp"
#include "support/random_problem.hpp"

namespace stiction::contact {
namespace {

using Eigen::VectorXd;
using support::DenseProblem;
using support::to_vector;

TEST(MomentumFactor, FreeMotionAndMobilityAgreeWithDense) {
  std::mt19937_64 rng(1);
  MomentumFactor factor;  // reused, so that patterns change and return
  for (int trial = 0; trial < 60; ++trial) {
    support::RandomProblemOptions options;
    options.num_bodies = trial % 5;
    options.num_trees = 1 + trial % 3;
    ContactProblem problem = support::make_random_problem(options, &rng);
    ASSERT_TRUE(factor.calc_derived(1, &problem));
    const DenseProblem dense(problem);
    const VectorXd change = dense.v_star - dense.v0;
    // Solves are backward stable, and condition numbers are below 1e6.
    EXPECT_LE((to_vector(problem.v_star) - dense.v_star).norm(), 1e-10 * change.norm()) << trial;
    for (int i = 0; i < problem.num_contacts(); ++i)
      EXPECT_NEAR(problem.delassus[i], dense.delassus[i], 1e-9 * dense.delassus[i]) << trial;
  }
}

TEST(MomentumFactor, NearRigidStiffnessHasAPeriodOfTheStep) {
  std::mt19937_64 rng(2);
  for (const double beta : {1.0, 0.25, 3.0}) {
    const ContactProblem before = support::make_random_problem({}, &rng);
    ContactProblem problem = before;
    MomentumFactor factor;
    ASSERT_TRUE(factor.calc_derived(beta, &problem));
    int num_near_rigid = 0;
    for (int i = 0; i < problem.num_contacts(); ++i) {
      const Contact& c = problem.contacts[i];
      if (before.contacts[i].law.stiffness < kInfinity) {
        EXPECT_EQ(c.law.stiffness, before.contacts[i].law.stiffness);
        EXPECT_EQ(c.fn0, before.contacts[i].fn0);
        continue;
      }
      ++num_near_rigid;
      // A mass 1/w on the spring swings with the period 2 pi sqrt(1 / (w k)) = beta dt.
      const double period = 2 * std::numbers::pi / std::sqrt(problem.delassus[i] * c.law.stiffness);
      EXPECT_NEAR(period, beta * problem.time_step, 1e-12 * problem.time_step);
      EXPECT_DOUBLE_EQ(c.fn0, -c.law.stiffness * c.phi0);
    }
    EXPECT_GT(num_near_rigid, 0);
  }
}

TEST(MomentumFactor, ContactOnTheAxisOfAHingeHasNoStiffness) {
  constexpr double kInertia = 2, kLever = 0.1;
  ContactProblem problem;
  problem.clear(2e-3);
  problem.diagonal(problem.add_block(1))[0] = kInertia;
  problem.pairs.push_back({.num_segments = 1, .num_contacts = 3});
  Segment segment;
  segment.block = 0;
  segment.num_columns = 1;
  problem.segments.push_back(segment);
  problem.column_dof = {0};
  problem.columns = {0, 0, 1, 0, 0, 0};
  for (const double lever : {0.0, 1e-17, kLever}) {
    Contact contact;
    contact.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    contact.offset = {lever, 0, 0.3};
    contact.phi0 = -1e-4;
    contact.law.stiffness = kInfinity;
    problem.contacts.push_back(contact);
  }
  MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(problem.contacts[i].law.stiffness, 0);
    EXPECT_EQ(problem.contacts[i].fn0, 0);
  }
  const double w = kLever * kLever / kInertia / 3, frequency = 2 * std::numbers::pi / 2e-3;
  EXPECT_NEAR(problem.contacts[2].law.stiffness * w, frequency * frequency,
              1e-9 * frequency * frequency);
}

Contact make_contact() {
  Contact contact;
  contact.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  contact.offset = {0.1, 0.2, -0.3};
  return contact;
}

TEST(MomentumFactor, BlockOfSixJointsIsNotAFreeBody) {
  // The block has six dofs like a free body, but its segments have columns.
  std::mt19937 rng(3);
  std::normal_distribution<double> normal;
  const auto random = [&](int rows, int columns) {
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(rng); }).eval();
  };
  ContactProblem problem;
  problem.clear(1e-3);
  const int block = problem.add_block(6);
  const Eigen::MatrixXd B = random(6, 6), A = B * B.transpose() + Eigen::MatrixXd::Identity(6, 6);
  Eigen::Map<Eigen::MatrixXd>(problem.diagonal(block), 6, 6) = A;
  BodyPair pair;
  pair.num_segments = 1;
  pair.num_contacts = 1;
  problem.pairs.push_back(pair);
  Eigen::MatrixXd V = Eigen::MatrixXd::Zero(6, 6);  // velocity of the pair per unit of each dof
  Segment segment;
  segment.block = block;
  segment.num_columns = 6;
  for (int dof = 0; dof < 6; ++dof) {
    const Eigen::VectorXd column = random(6, 1);
    V.col(dof) = column;
    problem.column_dof.push_back(dof);
    problem.columns.insert(problem.columns.end(), column.data(), column.data() + 6);
  }
  problem.segments.push_back(segment);
  problem.contacts.push_back(make_contact());
  MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  const auto [x, y, z] = problem.contacts[0].offset;
  Eigen::MatrixXd P = Eigen::MatrixXd::Zero(3, 6);  // v + w x r
  P(0, 1) = z, P(0, 2) = -y, P(1, 2) = x, P(1, 0) = -z, P(2, 0) = y, P(2, 1) = -x;
  P(0, 3) = P(1, 4) = P(2, 5) = 1;
  const Eigen::MatrixXd J = P * V;
  const double w = (J * A.inverse() * J.transpose()).norm() / 3;
  EXPECT_NEAR(problem.delassus[0], w, 1e-12 * w);
}

TEST(MomentumFactor, FreeBodyHasTheMobilityOfItsMass) {
  // A point mass: W = I / m, |W|_F / 3 = sqrt(3) / (3 m).
  ContactProblem problem;
  problem.clear(1e-3);
  const int block = problem.add_rigid_body();
  for (int i = 0; i < 6; ++i) problem.diagonal(block)[7 * i] = i < 3 ? 1e30 : 2;  // cannot turn
  problem.free_impulse = {0, 0, 0, 0, 0, 3};
  BodyPair pair;
  pair.num_segments = pair.num_contacts = 1;
  problem.pairs.push_back(pair);
  Segment segment;
  segment.block = block;
  segment.is_rigid_body = true;
  problem.segments.push_back(segment);
  problem.contacts.push_back(make_contact());
  MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  EXPECT_NEAR(problem.delassus[0], std::sqrt(3) / 6, 1e-15);
  EXPECT_DOUBLE_EQ(problem.v_star[5], 1.5);
}

TEST(MomentumFactor, ReportsAMatrixThatIsNotPositiveDefinite) {
  std::mt19937_64 rng(3);
  ContactProblem problem = support::make_random_problem({}, &rng);
  MomentumFactor factor;
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    ContactProblem broken = problem;
    const int block = broken.num_blocks() - 1;
    broken.diagonal(block)[0] = bad;
    EXPECT_FALSE(factor.calc_derived(1, &broken)) << bad;
  }
  // A coupling that is too large for an inertia matrix.
  ContactProblem broken = problem;
  broken.A[broken.couplings[0].start] += 1e3;
  EXPECT_FALSE(factor.calc_derived(1, &broken));
  EXPECT_TRUE(factor.calc_derived(1, &problem)) << "did not recover";
}

TEST(MomentumFactor, ContributionsOfBlocksAddUpToTheDualNorm) {
  std::mt19937_64 rng(4);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem problem = support::make_random_problem({}, &rng);
    MomentumFactor factor;
    ASSERT_TRUE(factor.calc_derived(1, &problem));
    const DenseProblem dense(problem);
    const int n = problem.num_dofs();
    const VectorXd r = VectorXd::NullaryExpr(n, [&] { return normal(rng); });
    VectorXd shares(problem.num_blocks());
    factor.calc_squared_norms({r.data(), static_cast<std::size_t>(n)},
                              {shares.data(), static_cast<std::size_t>(shares.size())});
    const double norm = std::sqrt(shares.sum());
    EXPECT_NEAR(norm, dense.calc_dual_norm(r), 1e-9 * norm);
    // A free body is coupled to nothing, so its contribution is its own norm.
    VectorXd own = VectorXd::Zero(n);
    own.head<6>() = r.head<6>();
    EXPECT_NEAR(std::sqrt(shares[0]), dense.calc_dual_norm(own), 1e-9 * norm);
  }
}

}  // namespace
}  // namespace stiction::contact
