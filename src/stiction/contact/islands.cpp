#include "stiction/contact/islands.hpp"

#include <algorithm>

namespace stiction::contact {
namespace {

/// Sorts item indices by island, keeping their order within one. Items of island -1 are left out.
void group_by_island(const std::vector<int>& island_of, int num_islands, std::vector<int>* start,
                     std::vector<int>* items) {
  start->assign(num_islands + 1, 0);
  for (const int island : island_of)
    if (island >= 0) ++(*start)[island + 1];
  for (int i = 0; i < num_islands; ++i) (*start)[i + 1] += (*start)[i];
  items->resize((*start)[num_islands]);
  // Fill from the back so that the starts end where they belong.
  for (int i = num_islands; i > 0; --i) (*start)[i] = (*start)[i - 1];
  for (int item = 0; item < static_cast<int>(island_of.size()); ++item)
    if (island_of[item] >= 0) (*items)[(*start)[island_of[item] + 1]++] = item;
}

}  // namespace

int Islands::find_root(int tree) {
  while (parent_[tree] != tree) {
    parent_[tree] = parent_[parent_[tree]];
    tree = parent_[tree];
  }
  return tree;
}

void Islands::merge(int a, int b) {
  a = find_root(a);
  b = find_root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

void Islands::find(const ContactProblem& problem) {
  const int num_trees = problem.num_trees();
  parent_.resize(num_trees);
  constrained_.assign(num_trees, 0);
  dof_tree_.resize(problem.num_dofs());
  for (int t = 0; t < num_trees; ++t) {
    parent_[t] = t;
    std::fill(dof_tree_.begin() + problem.dof_start[t], dof_tree_.begin() + problem.dof_start[t + 1],
              t);
  }

  // Merge what each constraint touches.
  pair_island_.resize(problem.pairs.size());
  for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
    const BodyPair& pair = problem.pairs[p];
    const Segment* segments = problem.segments.data() + pair.first_segment;
    pair_island_[p] = segments[0].tree;
    for (int s = 0; s < pair.num_segments; ++s) {
      constrained_[segments[s].tree] = 1;
      merge(segments[0].tree, segments[s].tree);
    }
  }
  row_island_.resize(problem.rows.size());
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    const Row& row = problem.rows[r];
    const int first_tree = dof_tree_[problem.row_dof[row.first_column]];
    row_island_[r] = first_tree;
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
      const int tree = dof_tree_[problem.row_dof[c]];
      constrained_[tree] = 1;
      merge(first_tree, tree);
    }
  }

  // Number the islands by their lowest tree, which is their root.
  tree_island_.assign(num_trees, -1);
  int num_islands = 0;
  for (int t = 0; t < num_trees; ++t)
    if (constrained_[t] && find_root(t) == t) tree_island_[t] = num_islands++;
  for (int t = 0; t < num_trees; ++t)
    if (constrained_[t]) tree_island_[t] = tree_island_[find_root(t)];
  for (int& p : pair_island_) p = tree_island_[p];
  for (int& r : row_island_) r = tree_island_[r];

  group_by_island(tree_island_, num_islands, &tree_start_, &trees_);
  group_by_island(pair_island_, num_islands, &pair_start_, &pairs_);
  group_by_island(row_island_, num_islands, &row_start_, &rows_);
}

}  // namespace stiction::contact
