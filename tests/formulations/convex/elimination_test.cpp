#include "stiction/formulations/convex/solver_layout.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/random_problem.hpp"

namespace stiction::formulations::elimination_test {
namespace {

using contact::ContactProblem;

std::set<int> find_touched_blocks(const ContactProblem& problem, const contact::Islands& islands) {
  std::set<int> touched;
  for (const contact::Segment& segment : problem.segments) touched.insert(segment.block);
  for (const int dof : problem.row_dof) touched.insert(islands.block_of_dof(dof));
  return touched;
}

TEST(EliminationCache, IdleBlocksComeFirst) {
  std::mt19937_64 rng(1);
  EliminationCache cache;  // reused, so that the same blocks return with other constraints
  contact::Islands islands;
  int num_idle = 0, num_touched = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const ContactProblem problem = support::make_random_problem(
        {.num_bodies = 2, .num_trees = 3, .num_pairs = 1 + trial % 4, .num_rows = trial % 3}, &rng);
    islands.find(problem);
    cache.update(problem, islands);
    const std::set<int> touched = find_touched_blocks(problem, islands);
    for (int i = 0; i < islands.size(); ++i) {
      const auto order = cache.order(i);
      const auto blocks = islands.blocks(i);
      EXPECT_EQ(std::set<int>(order.begin(), order.end()),
                std::set<int>(blocks.begin(), blocks.end()));
      for (int k = 0; k < static_cast<int>(order.size()); ++k)
        EXPECT_EQ(k < cache.num_idle(i), touched.count(order[k]) == 0) << "trial " << trial;
      num_idle += cache.num_idle(i);
      num_touched += static_cast<int>(order.size()) - cache.num_idle(i);
    }
  }
  EXPECT_GT(num_idle, 50);
  EXPECT_GT(num_touched, 50);
}

}  // namespace
}  // namespace stiction::formulations::elimination_test
