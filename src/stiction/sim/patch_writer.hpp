#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/contact_patches.hpp"
#include "stiction/sim/patch_report.hpp"

namespace stiction::sim {

/// The patches of a step that was solved.
void write_patches(const mjModel* model, const plant::ContactPatches& patches,
                   const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                   PatchReport* out);

/// The patches of ContactPatches::calc_surfaces as they stand, without a step: tractions and forces
/// of the fields' pressure alone; no slip.
void write_surfaces(const mjModel* model, const plant::ContactPatches& patches, PatchReport* out);

}  // namespace stiction::sim
