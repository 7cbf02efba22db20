#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone_blocks.hpp"

namespace stiction::formulations {

/// An order of the dofs in which dofs that a block moves together are near each other, so that a
/// matrix G^T D G has a narrow profile. It is found by breadth-first searches over the blocks, as
/// by Cuthill and McKee. Keeps its memory. Source: [cuthill1969].
class DofOrder {
 public:
  void find(const ConeBlocks& blocks);

  /// The place of a dof in the order.
  int operator[](int dof) const { return place_[dof]; }

 private:
  void list_blocks_of_dofs(const ConeBlocks& blocks);
  void search_from(int dof, const ConeBlocks& blocks);

  std::vector<int> place_;                     // -1: not placed yet
  std::vector<int> first_, next_, blocks_of_;  // the blocks of each dof
  std::vector<int> queue_;                     // dofs that a search has reached, in its order
  std::vector<char> is_done_, is_reached_;     // blocks and dofs of a search
};

}  // namespace stiction::formulations
