#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/implicit_forces.hpp"
#include "stiction/plant/model.hpp"

/// The dofs of a contact problem from MuJoCo's state.
///
/// Blocks and dofs are in MuJoCo's order and keep its velocities, but for free bodies, whose qvel
/// [v_W; w_B] becomes u = [w_W; v_W] = T qvel with T orthogonal: then every contact moves them by
/// the same simple Jacobian.
namespace stiction::plant {

/// Adds the model's blocks: A, v0 and the impulse of the smooth forces.
/// @param data after mj_fwdAcceleration (M, qfrc_smooth)
void add_blocks(const mjModel* model, const mjData* data, const Model& plant,
                const ImplicitForces& implicit, contact::ContactProblem* problem);

/// Rank-one terms that couple blocks which A does not, as spring rows of the problem.
void add_coupling_rows(const mjData* data, const Model& plant, const ImplicitForces& implicit,
                       contact::ContactProblem* problem);

/// Velocities of the solver to MuJoCo's dofs, and generalized forces the same way (T is
/// orthogonal).
void to_mujoco_dofs(const mjData* data, const Model& plant, const double* u, double* qvel);
/// The other way.
void to_solver_dofs(const mjData* data, const Model& plant, const double* qvel, double* u);

/// Appends a row's Jacobian, given in MuJoCo's dofs, in the solver's.
void add_row_columns(const mjData* data, const Model& plant, const int* dofs, const double* values,
                     int size, contact::Row* row, contact::ContactProblem* problem);

}  // namespace stiction::plant
