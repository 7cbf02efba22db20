#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/model/model.hpp"

/// Makes the dofs of a contact problem from MuJoCo's state.
///
/// Blocks and dofs of awake trees have MuJoCo's order and velocities, except those of free bodies.
/// Those of sleeping trees have none. The qvel
/// [v_W; w_B] of a free body becomes u = [w_W; v_W] = T qvel with T orthogonal. All contacts of a
/// free body then have the same simple Jacobian.
namespace stiction::plant {

/// Sets the blocks of the problem: A, v0 and the impulse of the smooth forces.
/// @param data after mj_fwdAcceleration (M, qfrc_smooth)
/// @param terms its memory is used
void add_blocks(const mjModel* model, const mjData* data, const Model& plant,
                const ImplicitForces& implicit, RankOneTerms* terms,
                contact::ContactProblem* problem);

/// Appends a spring row for each rank-one term with limits. They are the last rows of the problem,
/// in the order of the terms.
void add_coupling_rows(const mjData* data, const Model& plant, const ImplicitForces& implicit,
                       contact::ContactProblem* problem);
/// Returns the index of the first row of add_coupling_rows.
int find_first_coupling_row(const ImplicitForces& implicit, const contact::ContactProblem& problem);

/// Writes the forces that servos at their limits apply over the step to actuator_force,
/// qfrc_actuator, qfrc_smooth and qacc_smooth.
/// @param qvel size nv; awake dofs are set to the velocities at the end of the step
void write_servo_forces(const mjModel* model, mjData* data, const Model& plant,
                        const ImplicitForces& implicit, const contact::ContactProblem& problem,
                        const contact::ContactSolution& solution, std::span<double> qvel);

/// Converts velocities from the solver's dofs to MuJoCo's. T is orthogonal, so generalized forces
/// are converted in the same way.
/// @param u    size Model::num_dofs
/// @param qvel size nv; awake dofs are written
void to_mujoco_dofs(const mjData* data, const Model& plant, const double* u, double* qvel);
/// Converts velocities or generalized forces from MuJoCo's dofs to the solver's.
/// @param qvel size nv
/// @param u    size Model::num_dofs; it is written
void to_solver_dofs(const mjData* data, const Model& plant, const double* qvel, double* u);

/// Appends the nonzeros of a row, and converts them from MuJoCo's dofs to the solver's.
/// @param dofs, values in MuJoCo's dofs, in ascending order, of equal size
void append_solver_columns(const mjData* data, const Model& plant, std::span<const int> dofs,
                           std::span<const double> values, std::vector<int>* to_dofs,
                           std::vector<double>* to_values);

/// Appends a row's Jacobian, and converts it from MuJoCo's dofs to the solver's.
/// @param dofs, values nonzeros of the row in MuJoCo's dofs, in ascending order, of equal size
/// @param row its first_column and num_columns are set
void add_row_columns(const mjData* data, const Model& plant, std::span<const int> dofs,
                     std::span<const double> values, contact::Row* row,
                     contact::ContactProblem* problem);

}  // namespace stiction::plant
