#pragma once

#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_motion.hpp"

namespace stiction::formulations {

/// Computes the velocities that the law's impulses lead to, and the impulses of all other rows at
/// these velocities: bilateral constraints, springs and viscous friction.
/// @param impulses along the whitened rows of `system`
void expand_solution(const RigidTerms& terms, const RigidIterate& iterate,
                     const RigidImpulses& impulses, ReducedSystem* system, RigidMotion* out);

/// Computes the velocities of all contacts of the island at out->v.
void calc_contact_velocities(const RigidTerms& terms, RigidMotion* out);

}  // namespace stiction::formulations
