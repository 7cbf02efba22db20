#include "stiction/contact/momentum_factor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "stiction/contact/islands.hpp"
#include "support/dense_problem.hpp"
#include "support/random_problem.hpp"

namespace stiction::contact::momentum_factor_test {
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
    contact.R_WC = {1, 0, 0, 0, 0, -1, 0, 1, 0};  // the hinge moves it along n
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

TEST(MomentumFactor, MassLimitsTheStiffnessOfContactsNearAnAxis) {
  constexpr double kInertia = 2, kMass = 5, kStep = 2e-3;
  ContactProblem problem;
  problem.clear(kStep);
  problem.diagonal(problem.add_block(1))[0] = kInertia;
  // Lever arms from 10 m down to 1 nm, each of a pair of its own.
  std::vector<double> levers;
  for (int i = 0; i < 40; ++i) {
    levers.push_back(std::pow(10, 1 - 0.25 * i));
    problem.pairs.push_back({.first_segment = i,
                             .num_segments = 1,
                             .first_contact = i,
                             .num_contacts = 1,
                             .masses = {kMass, kInfinity}});
    Segment segment;
    segment.block = 0;
    segment.first_column = i;
    segment.num_columns = 1;
    problem.segments.push_back(segment);
    problem.column_dof.push_back(0);
    for (const double entry : {0, 0, 1, 0, 0, 0}) problem.columns.push_back(entry);
  }
  for (const double lever : levers) {
    Contact contact;
    contact.R_WC = {1, 0, 0, 0, 0, -1, 0, 1, 0};  // the hinge moves it along n
    contact.offset = {lever, 0, 0};
    contact.law.stiffness = kInfinity;
    problem.contacts.push_back(contact);
  }
  MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  const double squared_frequency = std::pow(2 * std::numbers::pi / kStep, 2);
  for (int i = 0; i < 40; ++i) {
    const double w = levers[i] * levers[i] / kInertia / 3;
    const double expected =
        squared_frequency * std::min({1 / w, 2 * kMass, 2 * kMass * w * 4 * kMass});
    EXPECT_NEAR(problem.contacts[i].law.stiffness, expected, 1e-9 * expected) << levers[i];
  }
}

TEST(MomentumFactor, MassOfFreeBodiesChangesNoBitOfTheirStiffnessUnlessTheyTurnEasily) {
  // Contacts at any point of free bodies of any shape, also at their centers of mass. A contact
  // that turns its bodies more easily than those of solids counts as one of 30 times their
  // mobility.
  int num_turning = 0;
  std::mt19937_64 rng(8);
  std::uniform_real_distribution<double> uniform(0, 1);
  MomentumFactor factor;
  for (int trial = 0; trial < 200; ++trial) {
    ContactProblem problem;
    problem.clear(1e-3);
    std::array<double, 2> masses;
    BodyPair pair;
    pair.num_contacts = 3;
    for (const int sign : {-1, 1}) {
      const int block = problem.add_rigid_body();
      const double mass = std::pow(10, 8 * uniform(rng) - 4);
      for (int i = 0; i < 3; ++i) {
        problem.diagonal(block)[7 * i] = mass * std::pow(10, 8 * uniform(rng) - 6);
        problem.diagonal(block)[7 * (3 + i)] = mass;
      }
      masses[sign > 0] = mass;
      Segment segment;
      segment.block = block;
      segment.is_rigid_body = true;
      segment.sign = sign;
      problem.segments.push_back(segment);
      ++pair.num_segments;
    }
    problem.pairs.push_back(pair);
    for (const double distance : {0.0, 0.1, 10.0}) {
      Contact contact;
      contact.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      contact.offset = {distance * uniform(rng), 0, -distance};
      contact.phi0 = -1e-3;
      contact.law.stiffness = kInfinity;
      problem.contacts.push_back(contact);
    }
    ContactProblem limited = problem;
    limited.pairs[0].masses = masses;
    ASSERT_TRUE(factor.calc_derived(1, &problem));
    ASSERT_TRUE(factor.calc_derived(1, &limited));
    const double mass = limited.pairs[0].reduced_mass();
    for (int i = 0; i < 3; ++i) {
      const contact::Contact &c = limited.contacts[i], &other = problem.contacts[i];
      const bool turns = limited.delassus[i] > 30 / mass;
      num_turning += turns;
      if (turns)
        EXPECT_NEAR(c.law.stiffness * 1e-6 / (4 * std::pow(std::numbers::pi, 2)), mass / 30,
                    1e-12 * mass);
      else
        EXPECT_EQ(c.law.stiffness, other.law.stiffness);
      EXPECT_EQ(c.fn0, -c.law.stiffness * c.phi0);
    }
  }
  EXPECT_GT(num_turning, 100);
  EXPECT_LT(num_turning, 500);
}

TEST(MomentumFactor, LoadStiffensContactsOfLighterBodies) {
  std::mt19937_64 rng(9);
  ContactProblem problem = support::make_random_problem({.num_trees = 0}, &rng);
  for (BodyPair& pair : problem.pairs) pair.masses = {2, 2};
  MomentumFactor factor;
  ContactProblem free = problem;
  ASSERT_TRUE(factor.calc_derived(1, &free));
  // Up to ten times the reduced mass of 1 kg there is no change, and 1000 times is the most.
  const std::pair<double, double> cases[] = {{0, 1}, {10, 1}, {20, 2}, {5e3, 500}, {1e6, 1000}};
  for (const auto& [load, factor_of_load] : cases) {
    ContactProblem loaded = problem;
    for (BodyPair& pair : loaded.pairs) pair.load = load;
    ASSERT_TRUE(factor.calc_derived(1, &loaded));
    for (int i = 0; i < problem.num_contacts(); ++i) {
      const bool is_near_rigid = problem.contacts[i].law.stiffness == kInfinity;
      const double expected = free.contacts[i].law.stiffness * (is_near_rigid ? factor_of_load : 1);
      if (factor_of_load == 1)
        EXPECT_EQ(loaded.contacts[i].law.stiffness, expected);
      else
        EXPECT_NEAR(loaded.contacts[i].law.stiffness, expected, 1e-12 * expected);
    }
  }
}

TEST(PairLoads, AreTheLargestMassOfTheIsland) {
  ContactProblem problem;
  problem.clear(1e-3);
  for (int i = 0; i < 5; ++i) problem.add_rigid_body();
  const auto add_pair = [&](int a, int b, std::array<double, 2> masses) {
    BodyPair pair;
    pair.first_segment = static_cast<int>(problem.segments.size());
    pair.masses = masses;
    for (const int block : {a, b}) {
      if (block < 0) continue;
      Segment segment;
      segment.block = block;
      segment.is_rigid_body = true;
      problem.segments.push_back(segment);
      ++pair.num_segments;
    }
    problem.pairs.push_back(pair);
  };
  add_pair(0, -1, {1, kInfinity});
  add_pair(0, 1, {1, 50});
  add_pair(1, 2, {50, 3});
  add_pair(3, 4, {2, 7});
  Islands islands;
  islands.find(problem);
  set_pair_loads(islands, &problem);
  const std::vector<double> expected = {50, 50, 50, 7};
  for (int p = 0; p < 4; ++p) EXPECT_EQ(problem.pairs[p].load, expected[p]);
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
}  // namespace stiction::contact::momentum_factor_test
