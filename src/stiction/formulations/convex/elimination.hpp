#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/ordering.hpp"

namespace stiction::formulations {

/// Elimination orders and Hessian patterns of the islands of a step, reused from the last step for
/// every island whose blocks and couplings are the same.
///
/// Blocks that no constraint touches come first: what they leave of A, its Schur complement for the
/// others, is the same for every Hessian of a solve.
class EliminationCache {
 public:
  void update(const contact::ContactProblem& problem, const contact::Islands& islands);

  /// The island's blocks in the order of elimination.
  std::span<const int> order(int island) const { return slot(island).order; }
  /// How many of them no constraint touches: the first.
  int num_idle(int island) const { return slot(island).num_idle; }
  /// Its Hessian, with blocks in that order.
  math::BlockSparseCholesky& hessian(int island) { return slots_[slot_index(island)].hessian; }

 private:
  struct Slot {
    std::vector<int> blocks;  // ascending; with edges, what the pattern depends on
    std::vector<int> sizes;
    std::vector<math::BlockEdge> edges;  // between positions in blocks
    std::vector<char> is_idle;           // by position
    std::vector<int> order;
    int num_idle = 0;
    math::BlockSparseCholesky hessian;
  };
  int slot_index(int island) const {
    STICTION_ASSERT(0 <= island && island < static_cast<int>(island_slot_.size()));
    return island_slot_[island];
  }
  const Slot& slot(int island) const { return slots_[slot_index(island)]; }
  void describe(const contact::ContactProblem& problem, const contact::Islands& islands,
                int island);
  bool is_unchanged(const Slot& slot) const;
  void analyze(Slot* slot);

  // By the lowest block of the island: it finds its pattern again after others came and went, and a
  // motion made before finds all memory it needs.
  std::vector<Slot> slots_;
  std::vector<int> island_slot_;  // of each island of this step
  math::MinimumDegreeOrdering ordering_;
  // The island being described, and scratch.
  std::vector<int> blocks_, sizes_, position_, ordered_sizes_, rank_;
  std::vector<math::BlockEdge> edges_, ordered_edges_;
  std::vector<char> is_idle_;
};

}  // namespace stiction::formulations
