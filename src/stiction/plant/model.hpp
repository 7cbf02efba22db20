#pragma once

#include <span>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::plant {

/// What the step needs of a MuJoCo model beside the model itself: its dofs in blocks, and which
/// dofs move each body. Fixed by the model's topology, so the values in the model may change
/// between steps.
class Model {
 public:
  /// A free body, or an unbranched chain of joints; its dofs are consecutive in MuJoCo's order.
  struct Block {
    int dof_start = 0;
    int num_dofs = 0;
    int parent = -1;  // the block that its first joint hangs on; -1: the world
    int depth = 0;    // ancestors
    int body = -1;    // of its first dof
    /// A free joint that carries no others. Its solver velocities are u = [w; v] of the joint's
    /// frame origin in the world frame, where its Jacobian needs no columns; see dynamics.hpp.
    bool is_free_body = false;
  };

  /// @throws Error if the model has elements that this library does not take
  explicit Model(const mjModel* model);

  const std::vector<Block>& blocks() const { return blocks_; }
  const Block& block(int i) const { return blocks_[i]; }
  int num_blocks() const { return static_cast<int>(blocks_.size()); }
  int block_of_dof(int dof) const { return dof_block_[dof]; }
  /// The blocks, couplings and zero A that every problem of this model starts from.
  const contact::ContactProblem& pattern() const { return pattern_; }
  /// Where A keeps the entry of two dofs of related blocks: its index, and that of its mirror image
  /// within a diagonal block (the same index where there is none).
  struct Entry {
    int index = 0;
    int mirror = 0;
  };
  Entry find_entry(int dof_i, int dof_j) const;
  /// The entries of MuJoCo's sparse M, in its order.
  const std::vector<Entry>& inertia_entries() const { return inertia_entries_; }
  /// True if one of two blocks is, or is an ancestor of, the other: then A may couple them.
  bool are_related(int block_a, int block_b) const;
  /// Dofs that move a body, ascending.
  std::span<const int> dofs_of_body(int body) const {
    return {chain_.data() + chain_start_[body],
            static_cast<std::size_t>(chain_start_[body + 1] - chain_start_[body])};
  }

 private:
  void make_blocks(const mjModel* model);
  void make_pattern(const mjModel* model);
  bool fits_open_block(const mjModel* model, int dof) const;

  std::vector<Block> blocks_;
  std::vector<int> dof_block_, chain_start_, chain_;
  contact::ContactProblem pattern_;
  std::vector<int> first_coupling_;  // of each block, with its ancestors, nearest first
  std::vector<Entry> inertia_entries_;
};

/// "geom 'name'", "geom 3" where it has none.
std::string describe(const mjModel* model, mjtObj type, int id);

}  // namespace stiction::plant
