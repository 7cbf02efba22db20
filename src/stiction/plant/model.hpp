#pragma once

#include <span>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::plant {

/// The structure of a MuJoCo model as the step uses it: the dofs in blocks, and the dofs that move
/// each body. It depends on the model's topology only, so the values in the model may change
/// between steps.
class Model {
 public:
  /// The dofs of a free body, of an unbranched chain of joints, or of a small tree. They are
  /// consecutive in MuJoCo's order.
  struct Block {
    int dof_start = 0;
    int num_dofs = 0;
    int parent = -1;  // block of the first joint's parent; -1: the world
    int depth = 0;    // number of ancestor blocks
    int body = -1;    // body of the first dof
    /// True for a free joint without descendants. Its solver velocities are u = [w; v] of the
    /// joint's frame origin in the world frame, so its Jacobian needs no stored columns; see
    /// dynamics.hpp.
    bool is_free_body = false;
  };

  /// Reads the structure of a model, which is not kept.
  /// @throws Error if the model has elements that this library does not support
  explicit Model(const mjModel* model);

  const std::vector<Block>& blocks() const { return blocks_; }
  const Block& block(int i) const { return blocks_[i]; }
  int num_blocks() const { return static_cast<int>(blocks_.size()); }
  int block_of_dof(int dof) const { return dof_block_[dof]; }
  /// The empty problem with which every step of this model starts: blocks, couplings, and A = 0.
  const contact::ContactProblem& pattern() const { return pattern_; }
  /// The place of an entry in the array A.
  struct Entry {
    int index = 0;
    int mirror = 0;  // index of the transposed entry of a diagonal block, otherwise `index`
  };
  /// Returns the entry of A for two dofs of related blocks.
  Entry find_entry(int dof_i, int dof_j) const;
  /// Returns the start in A of the diagonal block a = b, or of the coupling of a block b with its
  /// ancestor a.
  int find_block(int block_a, int block_b) const;
  /// The entries of MuJoCo's sparse M, in its order.
  const std::vector<Entry>& inertia_entries() const { return inertia_entries_; }
  /// True if two blocks are the same or one is an ancestor of the other, so that A may couple them.
  bool are_related(int block_a, int block_b) const;
  /// The dofs that move a body, in ascending order.
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
  std::vector<int> first_coupling_;  // per block; its ancestors follow, nearest first
  std::vector<Entry> inertia_entries_;
};

/// Returns the kind and name of an element, such as "geom 'name'", or "geom 3" without a name.
std::string describe(const mjModel* model, mjtObj type, int id);

}  // namespace stiction::plant
