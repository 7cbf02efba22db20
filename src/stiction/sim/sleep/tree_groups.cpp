#include "stiction/sim/sleep/tree_groups.hpp"

#include <algorithm>
#include <numeric>

namespace stiction::sim {

void TreeGroups::reset(int num_trees) {
  parent_.resize(num_trees);
  std::iota(parent_.begin(), parent_.end(), 0);
}

void TreeGroups::join(std::span<const int> trees) {
  for (std::size_t i = 1; i < trees.size(); ++i) {
    const int a = find(trees[i - 1]), b = find(trees[i]);
    parent_[std::max(a, b)] = std::min(a, b);
  }
}

int TreeGroups::find(int tree) {
  while (parent_[tree] != tree) tree = parent_[tree] = parent_[parent_[tree]];
  return tree;
}

}  // namespace stiction::sim
