#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::plant {

/// The structure of a MuJoCo model as the step uses it: the dofs in blocks, and the dofs that move
/// each body. It depends on the model's topology only, so the values in the model may change
/// between steps.
///
/// Trees may sleep. The blocks are those of awake trees, and the solver's dofs are only theirs. A
/// body of a sleeping tree has no dofs, as if it were a part of the world.
class Model {
 public:
  /// The dofs of a free body, of an unbranched chain of joints, or of a small tree. They are
  /// consecutive in MuJoCo's order.
  struct Block {
    int dof_start = 0;     // in MuJoCo's dofs
    int solver_start = 0;  // in the solver's; the same if all trees are awake
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
  /// True if the tree of one of MuJoCo's dofs is awake.
  bool is_awake(int dof) const { return dof_block_[dof] >= 0; }
  /// Returns the block of one of MuJoCo's dofs, which must be awake.
  int block_of_dof(int dof) const { return dof_block_[dof]; }
  /// Returns the block of one of the solver's dofs.
  int block_of_solver_dof(int dof) const { return solver_block_[dof]; }
  /// Returns the solver's dof of one of MuJoCo's, which must be awake.
  int solver_dof(int dof) const {
    const Block& block = blocks_[dof_block_[dof]];
    return block.solver_start + dof - block.dof_start;
  }
  /// The number of the solver's dofs.
  int num_dofs() const { return pattern_.num_dofs(); }
  /// A range of MuJoCo's dofs.
  struct DofRange {
    int begin = 0, end = 0;
  };
  /// The awake dofs as ranges in ascending order; one range if all are awake.
  std::span<const DofRange> awake_dofs() const { return awake_dofs_; }
  /// Lists the blocks of awake trees only.
  /// @param tree_awake size ntree
  void set_awake(const mjModel* model, std::span<const std::uint8_t> tree_awake);
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
  /// The entries of MuJoCo's sparse M, in its order. Those of sleeping trees are undefined.
  const std::vector<Entry>& inertia_entries() const { return inertia_entries_; }
  /// True if two blocks are the same or one is an ancestor of the other, so that A may couple them.
  bool are_related(int block_a, int block_b) const;
  /// The dofs of MuJoCo that move a body, in ascending order; none if its tree sleeps.
  std::span<const int> dofs_of_body(int body) const {
    return {chain_.data() + chain_start_[body], static_cast<std::size_t>(chain_size_[body])};
  }

 private:
  void make_blocks(const mjModel* model);
  void make_chains(const mjModel* model);
  void select_blocks(const mjModel* model, std::span<const std::uint8_t> tree_awake);
  void make_pattern(const mjModel* model);
  bool fits_open_block(const mjModel* model, int dof) const;

  std::vector<Block> all_blocks_;  // those of sleeping trees included
  std::vector<Block> blocks_;      // of awake trees
  std::vector<int> block_index_;   // of each of all_blocks_ in blocks_; -1: asleep
  std::vector<int> dof_block_;     // per dof of MuJoCo; -1: asleep
  std::vector<int> solver_block_;  // per dof of the solver
  std::vector<DofRange> awake_dofs_;
  std::vector<int> chain_, chain_start_;  // the dofs that move each body
  std::vector<int> chain_size_;           // 0: asleep
  contact::ContactProblem pattern_;
  std::vector<int> first_coupling_;  // per block; its ancestors follow, nearest first
  std::vector<Entry> inertia_entries_;
};

/// Returns the kind and name of an element, such as "geom 'name'", or "geom 3" without a name.
std::string describe(const mjModel* model, mjtObj type, int id);

/// Returns the mass that a contact on one of two bodies feels at most [kg], for
/// contact::BodyPair::masses; infinite if no dof moves the body.
///
/// A free body has its mass. The effective mass M_ii / r^2 of a joint grows without bound as the
/// lever arm r of the contact goes to 0, although no more than the mass m behind the joint pushes.
/// The joint therefore counts with the lever arm of this mass, which is its radius of gyration
/// about the joint, sqrt(I / m). Its mass is then m M_ii / I, which is m without armature. A body
/// on several joints has the largest mass of them. Servos and dampers do not count.
/// @param data after mj_makeM
/// @param dofs the dofs that move this body and not the other one, in ascending order
double calc_moved_mass(const mjModel* model, const mjData* data, std::span<const int> dofs);

/// Returns the <pair> element of two geoms, or -1.
int find_pair(const mjModel* model, int geom1, int geom2);
/// Returns the gap of two geoms, which MuJoCo adds to the margin of their contacts [m].
double find_gap(const mjModel* model, int geom1, int geom2);

}  // namespace stiction::plant
