#include "stiction/formulations/elimination.hpp"

#include <algorithm>

namespace stiction::formulations {

using contact::ContactProblem;
using contact::Islands;
using math::BlockEdge;

void EliminationCache::update(const ContactProblem& problem, const Islands& islands) {
  slot_of_tree_.resize(problem.num_trees(), -1);
  position_.resize(problem.num_trees());
  claim_slots(islands);
  for (int i = 0; i < islands.size(); ++i) {
    describe(problem, islands, i);
    Slot& slot = *slots_[island_slot_[i]];
    if (is_unchanged(slot)) continue;
    slot.trees.assign(trees_.begin(), trees_.end());
    slot.sizes.assign(sizes_.begin(), sizes_.end());
    slot.edges.assign(edges_.begin(), edges_.end());
    analyze(&slot);
  }
}

void EliminationCache::claim_slots(const Islands& islands) {
  // First the islands that had a slot in the last step, then the others take what is free.
  ++stamp_;
  island_slot_.assign(islands.size(), -1);
  for (int i = 0; i < islands.size(); ++i) {
    const int slot = slot_of_tree_[islands.trees(i)[0]];
    if (slot < 0 || slot_use_[slot] == stamp_) continue;
    island_slot_[i] = slot;
    slot_use_[slot] = stamp_;
  }
  int free = 0;
  for (int i = 0; i < islands.size(); ++i) {
    if (island_slot_[i] >= 0) continue;
    while (free < static_cast<int>(slots_.size()) && slot_use_[free] == stamp_) ++free;
    if (free == static_cast<int>(slots_.size())) {
      slots_.push_back(std::make_unique<Slot>());
      slot_use_.push_back(0);
    }
    island_slot_[i] = free;
    slot_use_[free] = stamp_;
  }
  std::fill(slot_of_tree_.begin(), slot_of_tree_.end(), -1);
  for (int i = 0; i < islands.size(); ++i) slot_of_tree_[islands.trees(i)[0]] = island_slot_[i];
}

void EliminationCache::describe(const ContactProblem& problem, const Islands& islands,
                                int island) {
  const auto trees = islands.trees(island);
  trees_.assign(trees.begin(), trees.end());
  sizes_.resize(trees.size());
  for (std::size_t k = 0; k < trees.size(); ++k) {
    position_[trees[k]] = static_cast<int>(k);
    sizes_[k] = problem.tree_size(trees[k]);
  }
  edges_.clear();
  const auto add_edge = [&](int tree_a, int tree_b) {
    const int a = position_[tree_a], b = position_[tree_b];
    if (a != b) edges_.push_back({std::min(a, b), std::max(a, b)});
  };
  for (const int p : islands.pairs(island)) {
    const contact::BodyPair& pair = problem.pairs[p];
    if (pair.num_segments == 2)
      add_edge(problem.segments[pair.first_segment].tree,
               problem.segments[pair.first_segment + 1].tree);
  }
  for (const int r : islands.rows(island)) {
    // Every two of the row's trees; a row names one tree's dofs one after the other.
    const contact::Row& row = problem.rows[r];
    int last_tree = -1;
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
      const int tree = islands.tree_of_dof(problem.row_dof[c]);
      if (tree == last_tree) continue;
      last_tree = tree;
      for (int b = row.first_column; b < c; ++b)
        add_edge(tree, islands.tree_of_dof(problem.row_dof[b]));
    }
  }
  // One order for equal graphs, whatever order contacts were found in.
  std::sort(edges_.begin(), edges_.end(), [](const BlockEdge& x, const BlockEdge& y) {
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
}

bool EliminationCache::is_unchanged(const Slot& slot) const {
  return slot.trees == trees_ && slot.sizes == sizes_ && slot.edges == edges_;
}

void EliminationCache::analyze(Slot* slot) {
  const int n = static_cast<int>(slot->trees.size());
  const auto order = ordering_.compute(n, slot->edges);
  slot->order.resize(n);
  rank_.resize(n);
  ordered_sizes_.resize(n);
  for (int k = 0; k < n; ++k) {
    slot->order[k] = slot->trees[order[k]];
    rank_[order[k]] = k;
    ordered_sizes_[k] = slot->sizes[order[k]];
  }
  ordered_edges_.assign(slot->edges.begin(), slot->edges.end());
  for (BlockEdge& e : ordered_edges_) e = {rank_[e.a], rank_[e.b]};
  slot->hessian.analyze(ordered_sizes_, ordered_edges_);
}

}  // namespace stiction::formulations
