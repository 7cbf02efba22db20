// The path from soft springs to stiff ones: a motion in closed form, and where the path ends
// against the definition of the springs.
#include "stiction/formulations/rigid/cone/cone_path.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "formulations/rigid/eccentric_body.hpp"
#include "formulations/rigid/reduced_numbers.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations::cone_path_test {
namespace {

using Numbers = ReducedNumbers;

struct Followed {
  bool is_at_end = false;
  int iterations = 0;
  std::vector<BlockVector> r;
  std::vector<double> u;
};

Followed follow(const ConeBlocks& blocks, double stiffness) {
  ConeSprings springs;
  springs.start(blocks);
  ConePath path;
  path.start(blocks, &springs);
  Followed out;
  out.is_at_end = path.follow(stiffness);
  out.iterations = path.iterations();
  if (!out.is_at_end) return out;
  out.r.assign(path.impulses().begin(), path.impulses().end());
  blocks.calc_motion(out.r, &out.u);
  return out;
}

double calc_dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Returns the largest difference of the velocities of contacts from those of springs of a
/// stiffness that carry the impulses r: a spring gives way by the impulse over rho, and slips at
/// its bound.
double calc_violation(const ConeBlocks& blocks, double stiffness, const Followed& end) {
  double worst = 0;
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    const double compliance = block.mobility / stiffness;
    const BlockVector w = blocks.calc_velocity(block, end.u), &r = end.r[i];
    // The velocity without what the spring gives way: open at r = 0, slip against friction.
    BlockVector rest{};
    for (int k = 0; k < 3; ++k) rest[k] = w[k] + compliance * r[k];
    const double bound = block.bound * r[0], friction = std::hypot(r[1], r[2]);
    const double slip = std::hypot(rest[1], rest[2]);
    worst = std::max({worst, r[0] > 0 ? std::abs(rest[0]) : -rest[0],
                      (friction - bound) * compliance, friction < bound * (1 - 1e-6) ? slip : 0,
                      friction > 0 ? slip + (rest[1] * r[1] + rest[2] * r[2]) / friction : 0});
  }
  return worst;
}

TEST(ConePath, ASpringSharesTheMotionWithAParticle) {
  Numbers numbers(3, 1, 0, 0);
  numbers.N = {0, 0, 1};
  numbers.T = {1, 0, 0, 0, 1, 0};
  numbers.mu = {0.5};
  for (const double stiffness : {1e-2, 1.0, 100.0, 2e4}) {
    // u_hat - u = -kappa u along the normal, and friction is half of that.
    numbers.u_hat = {3, 4, -1};
    ConeBlocks blocks;
    blocks.assemble(numbers.view());
    const Followed slips = follow(blocks, stiffness);
    ASSERT_TRUE(slips.is_at_end);
    const double push = stiffness / (1 + stiffness);
    EXPECT_NEAR(slips.r[0][0], push, 1e-8);
    EXPECT_NEAR(slips.u[0], 3 - 0.6 * 0.5 * push, 1e-8);
    EXPECT_NEAR(slips.u[1], 4 - 0.8 * 0.5 * push, 1e-8);
    // Sticks: the spring acts along tangents as along the normal.
    numbers.u_hat = {0.3, 0.2, -1};
    blocks.assemble(numbers.view());
    const Followed sticks = follow(blocks, stiffness);
    ASSERT_TRUE(sticks.is_at_end);
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(sticks.u[k], numbers.u_hat[k] / (1 + stiffness), 1e-8) << stiffness;
  }
}

/// Springs only take energy if rest satisfies all constraints, so that a path leads to every
/// stiffness.
TEST(ConePath, LeadsToTheSpringsOfEveryFreeBody) {
  std::mt19937_64 rng(1);
  int largest = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Numbers numbers = make_eccentric_body(&rng);
    ConeBlocks blocks;
    blocks.assemble(numbers.view());
    for (const double stiffness : {1.0, kUsualConeStiffness}) {
      const Followed end = follow(blocks, stiffness);
      ASSERT_TRUE(end.is_at_end) << trial;
      EXPECT_LE(calc_violation(blocks, stiffness, end), 1e-7) << trial;
      EXPECT_LE(calc_dot(end.u, end.u), calc_dot(end.u, blocks.u_hat()) + 1e-7) << trial;
      largest = std::max(largest, end.iterations);
    }
  }
  EXPECT_LE(largest, kMaxConePathIterations / 2);
}

TEST(ConePath, ContinuesWhereItEnded) {
  std::mt19937_64 rng(2);
  for (int trial = 0; trial < 50; ++trial) {
    const Numbers numbers = make_eccentric_body(&rng);
    ConeBlocks blocks;
    blocks.assemble(numbers.view());
    ConeSprings springs;
    springs.start(blocks);
    ConePath path;
    path.start(blocks, &springs);
    for (const double stiffness : {1.0, kUsualConeStiffness, kStiffestConePath}) {
      ASSERT_TRUE(path.follow(stiffness)) << trial;
      Followed end;
      end.r.assign(path.impulses().begin(), path.impulses().end());
      blocks.calc_motion(end.r, &end.u);
      // The round-off of stiff springs decides how near the path is reached.
      const double tolerance = std::max(1e-7, kConeNewtonSlack * kConeRoundOff * stiffness);
      EXPECT_LE(calc_violation(blocks, stiffness, end), tolerance) << trial;
    }
  }
}

}  // namespace
}  // namespace stiction::formulations::cone_path_test
