#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Overwrites the outputs of MuJoCo's own solver and integrator, which a step of ours does not run:
/// solver_niter[0] becomes our number of iterations, and all other solver statistics, qH,
/// qHDiagInv, qDeriv and qLU become 0. Without this they would still be those of the last mj_step.
/// Of the statistics per iteration, the entries that solver_niter counts are set.
/// @param num_iterations of our solver, summed over islands
void write_solver_outputs(const mjModel* model, mjData* data, int num_iterations);

}  // namespace stiction::plant
