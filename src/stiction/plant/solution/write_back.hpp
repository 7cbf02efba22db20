#pragma once

#include <span>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {

/// Writes the impulses of the problem's rows to efc_force and efc_state, as forces over the time
/// step. The force of all other rows is 0.
/// @param data has MuJoCo's own constraint rows, without rows of contacts
void write_row_forces(mjData* data, const contact::ContactProblem& problem,
                      const contact::ContactSolution& solution);

/// Removes all constraint rows, and the speculative contacts. mj_contactForce then returns 0.
void remove_rows(const mjModel* model, mjData* data);

/// Writes the result of a step to the arrays that MuJoCo's sensors, mj_contactForce and viewers
/// read: qacc, qfrc_constraint, efc_force and efc_state with one block per contact, and each
/// contact's efc_address, mu and H. qacc is the change of velocity divided by the time step. The
/// contacts' rows of efc_J and the solver's parameters stay 0, and so does efc_b, which only
/// MuJoCo's own solver reads. ContactJacobian fills efc_J.
/// @return false if the data's arena is too small for the rows; then only qacc and
///     qfrc_constraint are set
/// @param constraint_impulse J^T gamma in the solver's dofs [N s, N m s], size nv
bool write_back(const mjModel* model, mjData* data, const Model& plant,
                const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                std::span<const double> constraint_impulse);

/// Writes the contact forces of MuJoCo's own step as a solution, so that reports can compare MuJoCo
/// with our contact models.
/// @param data    after mj_step
/// @param problem has the contacts of `data`; v0 holds the velocities after the step
void read_mujoco_solution(const mjModel* model, const mjData* data,
                          const contact::ContactProblem& problem,
                          contact::ContactSolution* solution);

}  // namespace stiction::plant
