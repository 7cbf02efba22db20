#pragma once

#include <string>

#include <mujoco/mujoco.h>

#include "stiction/sim/step/solved_contacts.hpp"

/// The texts of failures of a step: the problem, its cause and the remedy.
namespace stiction::sim {

/// Describes why the solver did not solve an island.
std::string describe_failure(const StepInputs& in, const mjData* data,
                             const SolvedContacts& contacts, int island);

/// Bodies in contact with a larger ratio of masses may be the cause of a failure of a rigid model.
inline constexpr double kLargeMassRatio = 1e4;

/// Returns " because bodies ...", with a remedy, if bodies that touch each other have a ratio of
/// masses above kLargeMassRatio under a rigid model; otherwise an empty text. The bodies are those
/// of an island, or of all islands.
std::string describe_mass_ratio(const StepInputs& in, const SolvedContacts& contacts, int island);
std::string describe_mass_ratio(const StepInputs& in, const SolvedContacts& contacts);

/// Describes why a step was given up.
/// @param time at which the step began [s]
std::string describe_stop(const StepInputs& in, double time, base::StopReason reason);

/// Describes velocities that are not finite.
std::string describe_non_finite_velocities(const StepInputs& in, const SolvedContacts& contacts);

/// Returns ", found at geom 'a' and geom 'b'" for the contact or row of a conflict, or an empty
/// text if the island has no conflict.
std::string find_conflict(const StepInputs& in, const mjData* data, const SolvedContacts& contacts,
                          const contact::IslandStatistics& island);

}  // namespace stiction::sim
