#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/sim/report/patch_report.hpp"

namespace stiction::sim {

/// Writes the patches of a solved step.
void write_patches(const mjModel* model, const plant::ContactPatches& patches,
                   const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                   PatchReport* out);

/// Writes the patches of ContactPatches::calc_surfaces without a step. Their tractions and forces
/// come from the fields' pressure alone, and their slip is 0.
void write_surfaces(const mjModel* model, const plant::ContactPatches& patches, PatchReport* out);

}  // namespace stiction::sim
