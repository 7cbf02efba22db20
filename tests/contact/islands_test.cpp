#include "stiction/contact/islands.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/random_problem.hpp"

namespace stiction::contact::islands_test {
namespace {

/// A problem of blocks with one dof each, and constraints that couple them.
class Graph {
 public:
  explicit Graph(int num_blocks) {
    problem.clear(1e-3);
    for (int b = 0; b < num_blocks; ++b) *problem.diagonal(problem.add_block(1)) = 1;
  }
  void add_pair(const std::vector<int>& blocks) {
    BodyPair pair;
    pair.first_segment = static_cast<int>(problem.segments.size());
    pair.num_segments = static_cast<int>(blocks.size());
    pair.first_contact = problem.num_contacts();
    for (const int block : blocks) {
      Segment segment;
      segment.block = block;
      problem.segments.push_back(segment);
    }
    problem.pairs.push_back(pair);
  }
  void add_row(const std::vector<int>& dofs) {
    Row row;
    row.first_column = static_cast<int>(problem.row_dof.size());
    row.num_columns = static_cast<int>(dofs.size());
    for (const int dof : dofs) {
      problem.row_dof.push_back(dof);
      problem.row_columns.push_back(1);
    }
    problem.rows.push_back(row);
  }
  ContactProblem problem;
};

std::vector<int> to_vector(std::span<const int> items) { return {items.begin(), items.end()}; }
using Ints = std::vector<int>;

TEST(Islands, AreNumberedByTheirLowestBlock) {
  Graph graph(8);
  graph.add_pair({6, 4});
  graph.add_pair({7, 1});
  graph.add_row({2});
  graph.add_pair({1, 3});
  Islands islands;
  islands.find(graph.problem);
  ASSERT_EQ(islands.size(), 3);
  EXPECT_EQ(to_vector(islands.blocks(0)), (Ints{1, 3, 7}));
  EXPECT_EQ(to_vector(islands.pairs(0)), (Ints{1, 2}));
  EXPECT_EQ(to_vector(islands.blocks(1)), (Ints{2}));
  EXPECT_EQ(to_vector(islands.rows(1)), (Ints{0}));
  EXPECT_EQ(to_vector(islands.blocks(2)), (Ints{4, 6}));
  for (const int free : {0, 5}) EXPECT_EQ(islands.island_of_block(free), -1);
  EXPECT_EQ(islands.island_of_block(7), 0);
}

TEST(Islands, CouplingsOfInertiaJoinBlocks) {
  Graph graph(5);
  graph.problem.add_coupling(0, 3);
  graph.problem.add_coupling(4, 1);  // a tree without constraints
  graph.add_row({3});
  Islands islands;
  islands.find(graph.problem);
  ASSERT_EQ(islands.size(), 1);
  EXPECT_EQ(to_vector(islands.blocks(0)), (Ints{0, 3}));
  EXPECT_EQ(to_vector(islands.couplings(0)), (Ints{0}));
  EXPECT_EQ(islands.island_of_block(1), -1);
  EXPECT_EQ(islands.island_of_block(4), -1);
}

TEST(Islands, RowsJoinAllTheirBlocks) {
  Graph graph(6);
  graph.add_row({5, 0, 3});
  graph.add_row({2, 4});
  Islands islands;
  islands.find(graph.problem);
  ASSERT_EQ(islands.size(), 2);
  EXPECT_EQ(to_vector(islands.blocks(0)), (Ints{0, 3, 5}));
  EXPECT_EQ(to_vector(islands.blocks(1)), (Ints{2, 4}));
  EXPECT_EQ(to_vector(islands.rows(1)), (Ints{1}));
}

TEST(Islands, ProblemWithoutConstraintsHasNoIslands) {
  Graph graph(3);
  Islands islands;
  islands.find(graph.problem);
  EXPECT_EQ(islands.size(), 0);
  Graph empty(0);
  islands.find(empty.problem);
  EXPECT_EQ(islands.size(), 0);
}

TEST(Islands, AreFoundAgainIfOtherBlocksAreJoined) {
  const auto make = [](const Ints& pair, const Ints& row, std::array<int, 2> coupling) {
    Graph graph(6);
    if (coupling[0] != coupling[1]) graph.problem.add_coupling(coupling[0], coupling[1]);
    if (!pair.empty()) graph.add_pair(pair);
    if (!row.empty()) graph.add_row(row);
    return graph.problem;
  };
  const ContactProblem problems[] = {make({0, 1}, {2, 3}, {0, 0}), make({0, 1}, {2, 3}, {0, 0}),
                                     make({0, 4}, {2, 3}, {0, 0}), make({0, 4}, {2, 5}, {0, 0}),
                                     make({0, 4}, {2, 5}, {2, 0}), make({0, 4}, {2, 5}, {3, 0}),
                                     make({0, 4, 2}, {5}, {3, 0}), make({0, 4}, {}, {3, 0}),
                                     make({}, {0, 4}, {3, 0}),     make({}, {}, {3, 0})};
  Islands kept;
  for (const ContactProblem& problem : problems) {
    Islands fresh;
    fresh.find(problem);
    kept.find(problem);
    ASSERT_EQ(kept.size(), fresh.size());
    for (int i = 0; i < fresh.size(); ++i) {
      EXPECT_EQ(to_vector(kept.blocks(i)), to_vector(fresh.blocks(i)));
      EXPECT_EQ(to_vector(kept.couplings(i)), to_vector(fresh.couplings(i)));
      EXPECT_EQ(to_vector(kept.pairs(i)), to_vector(fresh.pairs(i)));
      EXPECT_EQ(to_vector(kept.rows(i)), to_vector(fresh.rows(i)));
    }
    for (int b = 0; b < 6; ++b) EXPECT_EQ(kept.island_of_block(b), fresh.island_of_block(b));
  }
}

TEST(Islands, PartitionDoesNotDependOnTheOrderOfConstraints) {
  std::mt19937_64 rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    constexpr int kBlocks = 30;
    std::uniform_int_distribution<int> block(0, kBlocks - 1), distance(1, kBlocks - 1);
    std::vector<Ints> links;
    for (int i = 0; i < 20; ++i) {
      const int first = block(rng);
      links.push_back({first, (first + distance(rng)) % kBlocks});
    }
    std::vector<Ints> partitions[2];
    for (int order = 0; order < 2; ++order) {
      Graph graph(kBlocks);
      for (const Ints& link : links) link[0] % 2 ? graph.add_row(link) : graph.add_pair(link);
      Islands islands;
      islands.find(graph.problem);
      for (int i = 0; i < islands.size(); ++i)
        partitions[order].push_back(to_vector(islands.blocks(i)));
      std::shuffle(links.begin(), links.end(), rng);
      for (Ints& link : links) std::reverse(link.begin(), link.end());
    }
    EXPECT_EQ(partitions[0], partitions[1]) << "trial " << trial;
  }
}

TEST(Islands, EachConstraintIsInTheIslandOfAllItsBlocks) {
  std::mt19937_64 rng(2);
  Islands islands;  // reused, because find may be called again
  for (int trial = 0; trial < 50; ++trial) {
    const ContactProblem problem = support::make_random_problem(
        {.num_bodies = 10, .num_trees = 3, .num_pairs = 5, .num_rows = 3}, &rng);
    islands.find(problem);
    std::multiset<int> pairs, rows, blocks;
    for (int i = 0; i < islands.size(); ++i) {
      EXPECT_FALSE(islands.pairs(i).empty() && islands.rows(i).empty());
      EXPECT_TRUE(std::is_sorted(islands.blocks(i).begin(), islands.blocks(i).end()));
      blocks.insert(islands.blocks(i).begin(), islands.blocks(i).end());
      pairs.insert(islands.pairs(i).begin(), islands.pairs(i).end());
      rows.insert(islands.rows(i).begin(), islands.rows(i).end());
      for (const int b : islands.blocks(i)) EXPECT_EQ(islands.island_of_block(b), i);
      for (const int p : islands.pairs(i)) {
        const BodyPair& pair = problem.pairs[p];
        for (int s = 0; s < pair.num_segments; ++s) {
          const int block = problem.segments[pair.first_segment + s].block;
          EXPECT_EQ(islands.island_of_block(block), i);
        }
      }
      for (const int r : islands.rows(i)) {
        const Row& row = problem.rows[r];
        for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
          const int block = islands.block_of_dof(problem.row_dof[c]);
          EXPECT_LE(problem.dof_start[block], problem.row_dof[c]);
          EXPECT_GT(problem.dof_start[block + 1], problem.row_dof[c]);
          EXPECT_EQ(islands.island_of_block(block), i);
        }
      }
    }
    EXPECT_EQ(pairs.size(), problem.pairs.size());
    EXPECT_EQ(rows.size(), problem.rows.size());
    EXPECT_EQ(std::set<int>(blocks.begin(), blocks.end()).size(), blocks.size());
    for (const Coupling& c : problem.couplings)
      EXPECT_EQ(islands.island_of_block(c.row_block), islands.island_of_block(c.column_block));
  }
}

}  // namespace
}  // namespace stiction::contact::islands_test
