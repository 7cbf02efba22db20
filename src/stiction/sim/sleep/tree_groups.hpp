#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace stiction::sim {

/// Groups of kinematic trees that something joins, as a union-find structure. A group is named by
/// its first tree.
class TreeGroups {
 public:
  /// Makes each tree a group of its own.
  void reset(int num_trees) {
    parent_.resize(num_trees);
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  /// Joins the groups of trees.
  void join(std::span<const int> trees) {
    for (std::size_t i = 1; i < trees.size(); ++i) {
      const int a = find(trees[i - 1]), b = find(trees[i]);
      parent_[std::max(a, b)] = std::min(a, b);
    }
  }
  /// Returns the group of a tree.
  int find(int tree) {
    while (parent_[tree] != tree) tree = parent_[tree] = parent_[parent_[tree]];
    return tree;
  }

 private:
  std::vector<int> parent_;
};

}  // namespace stiction::sim
