#pragma once

#include <string>

#include <mujoco/mujoco.h>

#include "stiction/sim/step/contact_pipeline.hpp"
#include "stiction/sim/step/step_context.hpp"

/// The texts of failures of a step: the problem, its cause and the remedy.
namespace stiction::sim {

/// Describes why the solver did not solve an island.
std::string describe_failure(const StepContext& context, const mjData* data,
                             const ContactPipeline& contacts, int island);

/// Bodies in contact with a larger ratio of masses may be the cause of a failure of a rigid model.
inline constexpr double kLargeMassRatio = 1e4;

/// Returns " because bodies ...", with a remedy, if bodies that touch each other have a ratio of
/// masses above kLargeMassRatio under a rigid model; otherwise an empty text. The bodies are those
/// of an island, or of all islands.
std::string describe_mass_ratio(const StepContext& context, const ContactPipeline& contacts,
                                int island);
std::string describe_mass_ratio(const StepContext& context, const ContactPipeline& contacts);

/// Describes why a step was given up.
/// @param time at which the step began [s]
std::string describe_stop(const StepContext& context, double time, base::StopReason reason);

/// Describes velocities that are not finite.
std::string describe_non_finite_velocities(const StepContext& context,
                                           const ContactPipeline& contacts);

/// Returns ", found at geom 'a' and geom 'b'" for the contact or row of a conflict, or an empty
/// text if the island has no conflict.
std::string find_conflict(const StepContext& context, const mjData* data,
                          const ContactPipeline& contacts, const contact::IslandStatistics& island);

}  // namespace stiction::sim
