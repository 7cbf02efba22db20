#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"

namespace stiction::plant {

/// Writes the contact forces of MuJoCo's own step as a solution, so that reports can compare MuJoCo
/// with our contact models.
/// @param data    after mj_step
/// @param problem has the contacts of `data`; v0 holds the velocities after the step
void read_mujoco_solution(const mjModel* model, const mjData* data,
                          const contact::ContactProblem& problem,
                          contact::ContactSolution* solution);

}  // namespace stiction::plant
