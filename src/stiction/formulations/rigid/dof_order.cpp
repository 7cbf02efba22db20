#include "stiction/formulations/rigid/dof_order.hpp"

#include <algorithm>

namespace stiction::formulations {

void DofOrder::find(const ConeBlocks& blocks) {
  list_blocks_of_dofs(blocks);
  const int n = blocks.num_dofs();
  place_.assign(n, -1);
  int num_placed = 0;
  for (int dof = 0; dof < n; ++dof) {
    if (place_[dof] >= 0) continue;
    // The last dof of a search is at the rim of the graph, from where the levels are narrow.
    search_from(dof, blocks);
    search_from(queue_.back(), blocks);
    for (const int reached : queue_) place_[reached] = num_placed++;
  }
}

void DofOrder::list_blocks_of_dofs(const ConeBlocks& blocks) {
  first_.assign(blocks.num_dofs() + 1, 0);
  for (int i = 0; i < blocks.size(); ++i)
    for (const int dof : blocks.columns(blocks[i])) ++first_[dof + 1];
  for (int dof = 0; dof < blocks.num_dofs(); ++dof) first_[dof + 1] += first_[dof];
  blocks_of_.resize(first_.back());
  next_.assign(first_.begin(), first_.end());
  for (int i = 0; i < blocks.size(); ++i)
    for (const int dof : blocks.columns(blocks[i])) blocks_of_[next_[dof]++] = i;
}

/// Lists the dofs that blocks connect with a dof, nearest first.
void DofOrder::search_from(int dof, const ConeBlocks& blocks) {
  is_done_.assign(blocks.size(), 0);
  is_reached_.assign(blocks.num_dofs(), 0);
  queue_.assign(1, dof);
  is_reached_[dof] = 1;
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    for (int at = first_[queue_[k]]; at < first_[queue_[k] + 1]; ++at) {
      const int block = blocks_of_[at];
      if (is_done_[block]) continue;
      is_done_[block] = 1;
      for (const int other : blocks.columns(blocks[block])) {
        if (is_reached_[other]) continue;
        is_reached_[other] = 1;
        queue_.push_back(other);
      }
    }
  }
}

}  // namespace stiction::formulations
