#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Empties a report for the next call, keeping its memory.
void clear_report(StepReport* report);

/// Empties a list of contacts, keeping its memory.
void clear_contacts(ContactReport* report);

/// Appends the contacts of a part of a step to the contacts of the earlier parts.
void append_contacts(const ContactReport& part, ContactReport* all);

/// Adds the statistics of a part of a step to those of the earlier parts, which begin with
/// num_parts = 0. Sizes and residuals are the largest of all parts.
void add_statistics(const StepStatistics& part, StepStatistics* all);

/// Adds the times of a part of a step to a sum, except the total.
void add_timings(const StepTimings& part, StepTimings* sum);

/// Writes the contacts of a step, with vectors in the world frame.
/// @param patches used to mark point contacts of geoms with a pressure field as fallbacks; null if
///     no geom has one
void write_contacts(const mjModel* model, const mjData* data,
                    const contact::ContactProblem& problem,
                    const contact::ContactSolution& solution, ContactReport* report,
                    const plant::ContactPatches* patches = nullptr);

/// Writes the statistics and islands of a solution.
void write_statistics(const contact::ContactProblem& problem,
                      const contact::ContactSolution& solution, StepReport* report);

}  // namespace stiction::sim
