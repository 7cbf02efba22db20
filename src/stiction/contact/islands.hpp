#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {

/// Groups of trees that constraints couple, each an independent problem. Islands are numbered by
/// their lowest tree and list trees, pairs and rows in increasing order, so the numbering is the
/// same however the problem is solved. Trees without any constraint are in none: their v is v*.
class Islands {
 public:
  void find(const ContactProblem& problem);

  int size() const { return static_cast<int>(tree_start_.size()) - 1; }
  std::span<const int> trees(int island) const { return slice(trees_, tree_start_, island); }
  std::span<const int> pairs(int island) const { return slice(pairs_, pair_start_, island); }
  std::span<const int> rows(int island) const { return slice(rows_, row_start_, island); }
  /// The island of a tree, or -1.
  int island_of_tree(int tree) const { return tree_island_[tree]; }
  int tree_of_dof(int dof) const { return dof_tree_[dof]; }

 private:
  static std::span<const int> slice(const std::vector<int>& items, const std::vector<int>& start,
                                    int i) {
    return {items.data() + start[i], static_cast<std::size_t>(start[i + 1] - start[i])};
  }
  int find_root(int tree);
  void merge(int a, int b);

  std::vector<int> parent_, dof_tree_, tree_island_, pair_island_, row_island_;
  std::vector<int> tree_start_{0}, trees_, pair_start_{0}, pairs_, row_start_{0}, rows_;
  std::vector<char> constrained_;
};

}  // namespace stiction::contact
