#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "formulations/rigid/reduced_numbers.hpp"
#include "stiction/formulations/rigid/cone/cone_solver.hpp"

namespace stiction::formulations::cone_solver_test {

// The stiffness of springs from one proximal step to the next.
namespace {

TEST(SpringSchedule, StiffensUpToTheUsualStiffness) {
  SpringSchedule springs(30);
  double residual = 1;
  for (const double expected : {30.0, 900.0, 2e4, 2e4}) {
    EXPECT_EQ(springs.stiffness(), expected);
    springs.note_solved(residual *= 0.1);
    EXPECT_TRUE(springs.stiffen());
    EXPECT_FALSE(springs.is_slow());
  }
  EXPECT_TRUE(springs.is_usual());
}

TEST(SpringSchedule, TriesStifferSpringsWhereStepsAreSlow) {
  SpringSchedule springs(kUsualConeStiffness);
  int num_steps = 0;
  do {
    springs.note_solved(1);
    ASSERT_LT(++num_steps, kMaxProximalSteps);
  } while (springs.stiffen());
  EXPECT_TRUE(springs.is_slow());
  EXPECT_EQ(springs.stiffness(), kLargestConeStiffness);
}

TEST(SpringSchedule, GoesBackTowardsTheLastStepThatWasSolved) {
  SpringSchedule springs(30);
  springs.note_solved(1);
  ASSERT_TRUE(springs.stiffen());
  double last = springs.stiffness();
  ASSERT_TRUE(springs.soften());
  EXPECT_LT(springs.stiffness(), last);
  EXPECT_GT(springs.stiffness(), 30);
  // Steps that are not solved end the attempt; the stiffness falls below that of the solved step.
  int num_failures = 1;
  for (last = springs.stiffness(); springs.soften(); last = springs.stiffness()) {
    EXPECT_LT(springs.stiffness(), last);
    ASSERT_LE(++num_failures, kMaxFailedConeSteps);
  }
  EXPECT_EQ(num_failures, kMaxFailedConeSteps);
  EXPECT_LT(springs.stiffness(), 30);
}

TEST(SpringSchedule, GrowsFasterAgainAfterSofterStepsThatAreSolved) {
  SpringSchedule springs(30);
  springs.note_solved(1);
  ASSERT_TRUE(springs.stiffen());
  while (springs.stiffness() > 30) ASSERT_TRUE(springs.soften());
  const double before = springs.stiffness();
  springs.note_solved(0.1);
  ASSERT_TRUE(springs.stiffen());
  EXPECT_NEAR(springs.stiffness() / before, kLeastConeGrowth * kConeGrowthRecovery, 1e-12);
}

TEST(SpringSchedule, EndsIfTheFirstStepIsNotSolved) {
  SpringSchedule springs(30);
  EXPECT_FALSE(springs.has_solved());
  EXPECT_FALSE(springs.soften());
}

}  // namespace

// The proof that friction jams corrections: its bound against motions that are known, wedges whose
// angle decides, and what a solve of jammed corrections costs.
namespace {

using Eigen::VectorXd;
using Numbers = ReducedNumbers;

/// The speed that leverages refer to: that without impulses and those of each correction alone.
double calc_usual_speed(const Numbers& numbers, const ConeBlocks& blocks) {
  double squares = 0;
  for (const double x : numbers.u_hat) squares += x * x;
  for (int i = 0; i < blocks.size(); ++i)
    if (blocks[i].b[0] < 0) squares += blocks[i].b[0] * blocks[i].b[0] / blocks[i].mobility;
  return std::sqrt(squares);
}

// Constants are chosen so that a random motion is in the dual cone of every contact.
TEST(ConeJam, NoMotionIsSlowerThanTheBound) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  double sharpest = 0;  // largest share of the speed that the bound proves
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 2 + trial % 5, num_contacts = 1 + trial % 7, num_limits = trial % 3;
    Numbers numbers(n, num_contacts, num_limits, 0);
    for (auto* values : {&numbers.N, &numbers.T, &numbers.u_hat})
      for (double& x : *values) x = normal(rng);
    for (double& x : numbers.mu) x = std::abs(normal(rng));
    VectorXd u(n);
    for (double& x : u) x = normal(rng);
    ConeBlocks blocks;
    blocks.assemble(numbers.view());
    for (int i = 0; i < blocks.size(); ++i) {
      const BlockVector w =
          blocks.calc_velocity(blocks[i], {u.data(), static_cast<std::size_t>(n)});
      const double slip = blocks[i].num_rows == 3 ? std::hypot(w[1], w[2]) : 0;
      numbers.b_n[i] = blocks[i].bound * slip - w[0];
    }
    blocks.assemble(numbers.view());
    ConeJam jam;
    jam.start(blocks);
    for (int k = 0; k < 20; ++k) {
      std::vector<BlockVector> r(blocks.size());
      for (BlockVector& x : r) x = {std::abs(normal(rng)), normal(rng), normal(rng)};
      const double bound = jam.calc_leverage(r) * calc_usual_speed(numbers, blocks);
      EXPECT_LE(bound, u.norm() * (1 + 1e-12)) << trial;
      sharpest = std::max(sharpest, bound / u.norm());
    }
  }
  EXPECT_GT(sharpest, 0.5);
}

/// A particle between two walls that lean outward from the vertical plane by an angle. Both are to
/// part from it at 0.1 m/s.
Numbers make_wedge(double angle, double mu) {
  Numbers numbers(3, 2, 0, 0);
  const double c = std::cos(angle), s = std::sin(angle);
  numbers.N = {c, 0, s, -c, 0, s};
  numbers.T = {-s, 0, c, 0, 1, 0, s, 0, c, 0, 1, 0};
  numbers.b_n = {-0.1, -0.1};
  numbers.mu = {mu, mu};
  numbers.u_hat = {0, 0, -0.01};
  return numbers;
}

// In a wedge whose walls lean by less than the angle of friction, impulses hold each other.
TEST(ConeJam, AWedgeIsJammedIfItIsSteeperThanTheAngleOfFriction) {
  for (const double angle : {0.2, 0.4, 0.7}) {
    for (const double ratio : {0.8, 1.25}) {
      const double mu = ratio * std::tan(angle), c = std::cos(angle), s = std::sin(angle);
      const Numbers numbers = make_wedge(angle, mu);
      ConeBlocks blocks;
      blocks.assemble(numbers.view());
      ConeJam jam;
      jam.start(blocks);
      // Normal and friction together point along x.
      const std::vector<BlockVector> squeeze = {{c, -s, 0}, {c, -s, 0}};
      const bool is_jammed = ratio > 1;
      EXPECT_EQ(jam.calc_leverage(squeeze) > 1e6, is_jammed) << angle << " " << mu;
      const ConeReport report = ConeSolver().solve(blocks);
      EXPECT_EQ(report.is_solved, !is_jammed);
      EXPECT_EQ(report.has_conflict, is_jammed);
      // The jam is found by the first steps. Measured: at most 26.
      EXPECT_LE(report.newton_steps + report.sweeps, 60);
    }
  }
}

TEST(ConeJam, SurfacesThatMoveJamNothing) {
  // Two belts press on a particle from both sides and move against each other.
  Numbers numbers = make_wedge(0, 0.5);
  numbers.b_n = {0, 0};
  numbers.b_t = {1, 0, 1, 0};
  ConeBlocks blocks;
  blocks.assemble(numbers.view());
  ConeJam jam;
  jam.start(blocks);
  const std::vector<BlockVector> pinch = {{1, -0.5, 0}, {1, -0.5, 0}};
  EXPECT_EQ(jam.calc_leverage(pinch), 0);
}

}  // namespace

}  // namespace stiction::formulations::cone_solver_test
