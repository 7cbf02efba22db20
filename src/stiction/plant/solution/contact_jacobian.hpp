#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {

/// Completes the rows that write_back has made for contacts, for readers of MuJoCo's constraint
/// arrays: efc_J of the contacts' rows, so that J^T efc_force is qfrc_constraint, their efc_vel,
/// and efc_b of all rows. The solver has no use for these rows, so a step does not pay for them.
class ContactJacobian {
 public:
  /// Writes the rows. Call it inside a MuJoCoGuard after reserve and write_back.
  /// @param problem the problem that write_back has written
  /// @return false if the data's arena is too small
  bool write(const mjModel* model, mjData* data, const Model& plant,
             const contact::ContactProblem& problem);
  /// Allocates the memory of write, which must not allocate inside a MuJoCoGuard.
  void reserve(const mjModel* model, const mjData* data);

 private:
  int find_dofs(const mjModel* m, const mjData* d, const Model& plant, int index);
  void calc_rows(const mjModel* m, const mjData* d, int index, const double (*points)[3]);
  void write_row(const mjModel* m, mjData* d, int row);
  bool grow_sparse(const mjModel* m, mjData* d, const Model& plant);

  std::vector<int> dofs_;          // dofs that move a contact
  std::vector<mjtNum> jac_[2][2];  // of bodies A and B: linear and angular velocity, 3 x nv each
  std::vector<mjtNum> rows_;       // n, t1, t2, and rotations about them, 6 x nv
  std::vector<mjtNum> row_;        // a row of efc_J, size nv
  std::vector<mjtNum> product_;    // J v, size nefc
};

}  // namespace stiction::plant
