#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/sim/report/step_report.hpp"

/// Fills and adds reports.
namespace stiction::sim {

/// Empties a report for the next call, keeping its memory.
void clear_report(StepReport* report);
/// Removes the failure of a report, and sets its findings to those before the step.
void withdraw_step(const CallFindings& before, StepReport* report);

/// Adds the counts of another solve of the same part.
void add_work(const StepStatistics& part, StepStatistics* all);
/// Adds the statistics of a part of a step to those of the earlier parts, which begin with
/// num_parts = 0. Sizes and residuals are the largest of all parts.
void add_statistics(const StepStatistics& part, StepStatistics* all);
/// Adds the times of a part of a step to a sum, except the total.
void add_timings(const StepTimings& part, StepTimings* sum);

/// Writes the contacts of a step.
/// @param patches used to mark point contacts of geoms with a pressure field as fallbacks; null if
///     no geom has one
void write_contacts(const mjModel* model, const mjData* data,
                    const contact::ContactProblem& problem,
                    const contact::ContactSolution& solution, ContactReport* report,
                    const plant::ContactPatches* patches = nullptr);
/// Writes the patches of a solved step.
void write_patches(const mjModel* model, const plant::ContactPatches& patches,
                   const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                   PatchReport* out);
/// Writes the patches of ContactPatches::calc_surfaces without a step. Their tractions and forces
/// come from the fields' pressure alone, and their slip is 0.
void write_surfaces(const mjModel* model, const plant::ContactPatches& patches, PatchReport* out);

/// Writes the statistics and islands of a solution.
void write_statistics(const contact::ContactProblem& problem,
                      const contact::ContactSolution& solution, StepReport* report);
/// Empties the traces of a report, keeping its memory.
void clear_trace(TraceReport* report);
/// Appends the traces of a solution. Does nothing if the solver recorded none.
void append_traces(const contact::ContactSolution& solution, TraceReport* report);

}  // namespace stiction::sim
