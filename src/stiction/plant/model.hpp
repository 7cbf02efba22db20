#pragma once

#include <span>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// What the step needs of a MuJoCo model beside the model itself: its kinematic trees and which dofs
/// move each body. Fixed by the model's topology, so the values in the model may change between
/// steps.
class Model {
 public:
  struct Tree {
    int dof_start = 0;
    int num_dofs = 0;
    /// A single body on a free joint. Its solver velocities are u = [w; v] of the joint's frame
    /// origin in the world frame, where its Jacobian needs no columns; see dynamics.hpp.
    bool is_free_body = false;
    int body = -1;  // the tree's root
  };

  /// @throws Error if the model has elements that this library does not take
  explicit Model(const mjModel* model);

  const std::vector<Tree>& trees() const { return trees_; }
  int num_trees() const { return static_cast<int>(trees_.size()); }
  int tree_of_body(int body) const { return body_tree_[body]; }
  int tree_of_dof(int dof) const { return dof_tree_[dof]; }
  /// Dofs that move a body, ascending.
  std::span<const int> dofs_of_body(int body) const {
    return {chain_.data() + chain_start_[body],
            static_cast<std::size_t>(chain_start_[body + 1] - chain_start_[body])};
  }
  bool has_rows() const { return has_rows_; }
  bool has_body_transmission() const { return has_body_transmission_; }

 private:
  std::vector<Tree> trees_;
  std::vector<int> body_tree_, dof_tree_, chain_start_, chain_;
  bool has_rows_ = false;
  bool has_body_transmission_ = false;
};

/// "geom 'name'", "geom 3" where it has none.
std::string describe(const mjModel* model, mjtObj type, int id);

}  // namespace stiction::plant
