#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"

namespace stiction::formulations {

/// Elimination orders and Hessian patterns of the islands of a step. An island whose blocks and
/// couplings are those of the last step keeps its order.
///
/// Idle blocks, on which no constraint acts, are eliminated first. The Schur complement of A for
/// the other blocks is then the same in every Hessian of a solve. Source: [theory:elimination].
class EliminationCache {
 public:
  /// Finds the orders of all islands of a step.
  void update(const contact::ContactProblem& problem, const contact::Islands& islands);

  /// The blocks of an island in elimination order.
  std::span<const int> order(int island) const { return slot(island).order; }
  /// The number of idle blocks of an island, which are the first in its order.
  int num_idle(int island) const { return slot(island).num_idle; }
  /// The Hessian of an island, with its blocks in elimination order.
  math::BlockSparseCholesky& hessian(int island) { return slots_[slot_index(island)].hessian; }

 private:
  struct Slot {
    // The pattern depends on these.
    std::vector<int> blocks;  // ascending
    std::vector<int> sizes;
    std::vector<math::BlockEdge> edges;  // between positions in blocks
    std::vector<char> is_idle;           // by position in blocks
    // These follow from them.
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

  // Slots by the lowest block of an island. An island keeps its slot if other islands change, and
  // a repeated motion allocates nothing.
  std::vector<Slot> slots_;
  std::vector<int> island_slot_;  // slot of each island of this step
  math::MinimumDegreeOrdering ordering_;
  // The graph of the current island, and scratch.
  std::vector<int> blocks_, sizes_, position_, ordered_sizes_, rank_;
  std::vector<math::BlockEdge> edges_, ordered_edges_;
  std::vector<char> is_idle_;
};

}  // namespace stiction::formulations
