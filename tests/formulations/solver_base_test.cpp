#include "stiction/formulations/solver_base.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/contact/momentum_factor.hpp"
#include "support/random_problem.hpp"

namespace stiction::formulations::solver_base_test {
namespace {

using contact::ContactProblem;
using contact::Islands;

/// A problem that a solver may read, with its islands.
struct Ready {
  ContactProblem problem;
  Islands islands;

  Ready() {
    std::mt19937_64 rng(1);
    problem = support::make_random_problem({.num_rows = 4}, &rng);
    contact::MomentumFactor factor;
    EXPECT_TRUE(factor.calc_derived(1, &problem));
    islands.find(problem);
  }
  bool is_ready(std::span<const double> guess = {}) const {
    return is_ready_to_solve(problem, islands, guess);
  }
};

TEST(SolverPreconditions, HoldForAProblemWithItsIslands) {
  const Ready ready;
  EXPECT_TRUE(ready.is_ready());
  EXPECT_TRUE(ready.is_ready(ready.problem.v0));
  EXPECT_TRUE(are_in_range({}));
}

TEST(SolverPreconditions, FailForIndicesOutOfRange) {
  Ready ready;
  ready.problem.row_dof[0] = ready.problem.num_dofs();
  EXPECT_FALSE(ready.is_ready());
}

TEST(SolverPreconditions, FailBeforeCalcDerived) {
  Ready ready;
  ready.problem.v_star.clear();
  EXPECT_FALSE(ready.is_ready());
  Ready other;
  other.problem.delassus.pop_back();
  EXPECT_FALSE(other.is_ready());
}

TEST(SolverPreconditions, FailForTheIslandsOfAnotherProblem) {
  const Ready ready;
  EXPECT_FALSE(is_ready_to_solve(ready.problem, Islands(), {}));
}

TEST(SolverPreconditions, FailForAGuessOfAnotherSize) {
  const Ready ready;
  std::vector<double> guess = ready.problem.v0;
  guess.push_back(0);
  EXPECT_FALSE(ready.is_ready(guess));
}

TEST(SolverPreconditions, FailForOptionsOutOfRange) {
  const auto expect_refused = [](auto change) {
    SolverOptions options;
    change(&options);
    EXPECT_FALSE(are_in_range(options));
  };
  expect_refused([](SolverOptions* o) { o->relative_tolerance = -1; });
  expect_refused([](SolverOptions* o) { o->max_rounds = -1; });
  expect_refused([](SolverOptions* o) { o->parameters.stiction_tolerance = 0; });
  expect_refused([](SolverOptions* o) { o->parameters.friction_directions = 5; });
  expect_refused([](SolverOptions* o) { o->parameters.gap_correction = 1.1; });
}

}  // namespace

}  // namespace stiction::formulations::solver_base_test
