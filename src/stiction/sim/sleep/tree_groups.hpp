#pragma once

#include <span>
#include <vector>

namespace stiction::sim {

/// Groups of kinematic trees that something joins, as a union-find structure. A group is named by
/// its first tree.
class TreeGroups {
 public:
  /// Makes each tree a group of its own.
  void reset(int num_trees);
  /// Joins the groups of trees.
  void join(std::span<const int> trees);
  /// Returns the group of a tree.
  int find(int tree);

 private:
  std::vector<int> parent_;
};

}  // namespace stiction::sim
