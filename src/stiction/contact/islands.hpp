#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {

/// Islands: groups of blocks that constraints or inertia couple. Each is an independent problem.
/// Islands are numbered by their lowest block and list their items in increasing order, so the
/// numbering does not depend on the order of constraints. A group without constraints is not an
/// island; its solution is v*.
class Islands {
 public:
  /// Finds the islands of a problem. They replace those of the call before, or stay if the same
  /// blocks are joined in the same order, as in most steps.
  void find(const ContactProblem& problem);

  int size() const { return static_cast<int>(block_start_.size()) - 1; }
  // Indices of the blocks, couplings, pairs and rows of an island, ascending.
  std::span<const int> blocks(int island) const { return slice(blocks_, block_start_, island); }
  std::span<const int> couplings(int island) const {
    return slice(couplings_, coupling_start_, island);
  }
  std::span<const int> pairs(int island) const { return slice(pairs_, pair_start_, island); }
  std::span<const int> rows(int island) const { return slice(rows_, row_start_, island); }
  /// The island of a block; -1 if no constraint acts on its group.
  int island_of_block(int block) const {
    STICTION_ASSERT(0 <= block && block < static_cast<int>(block_island_.size()));
    return block_island_[block];
  }
  int block_of_dof(int dof) const {
    STICTION_ASSERT(0 <= dof && dof < static_cast<int>(dof_block_.size()));
    return dof_block_[dof];
  }

 private:
  static std::span<const int> slice(const std::vector<int>& items, const std::vector<int>& start,
                                    int i) {
    STICTION_ASSERT(0 <= i && i + 1 < static_cast<int>(start.size()));
    return {items.data() + start[i], static_cast<std::size_t>(start[i + 1] - start[i])};
  }
  // Union-find over blocks; the root of a group is its lowest block.
  int find_root(int block);
  void merge(int a, int b);

  std::vector<int> structure_, next_structure_;  // of the last problem; empty before the first
  std::vector<int> parent_, dof_block_, block_island_, coupling_island_, pair_island_, row_island_;
  // Lists by island: the items of island i are [start[i], start[i + 1]).
  std::vector<int> block_start_{0}, blocks_, coupling_start_{0}, couplings_;
  std::vector<int> pair_start_{0}, pairs_, row_start_{0}, rows_;
  std::vector<char> constrained_;  // 1 for blocks of groups that a constraint acts on
};

/// Sets BodyPair::load of all pairs to the largest mass in their island, since the heaviest body of
/// an island may rest on any of its contacts.
/// @param islands of the problem
void set_pair_loads(const Islands& islands, ContactProblem* problem);

}  // namespace stiction::contact
