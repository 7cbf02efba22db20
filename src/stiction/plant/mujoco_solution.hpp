#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"

namespace stiction::plant {

/// Reads the contact forces of MuJoCo's own step as a solution, for reports that compare models.
/// @param data    after mj_step
/// @param problem with its contacts, and v0 the velocities after the step
void read_mujoco_solution(const mjModel* model, const mjData* data,
                          const contact::ContactProblem& problem,
                          contact::ContactSolution* solution);

}  // namespace stiction::plant
