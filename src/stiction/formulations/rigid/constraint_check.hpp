#pragma once

#include <span>

#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_motion.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

/// Returns true if a motion keeps contacts and limits apart and sticking tangents at rest, all
/// within kConstraintTolerance of the fastest velocity. A solution may fail this check if one body
/// is driven by surfaces that move against each other. Contacts may move by short levers,
/// [theory:short-levers].
/// @param system projected for the motion
bool keeps_constraints(const RigidTerms& terms, const RigidIterate& iterate,
                       const ReducedSystem& system, const RigidMotion& motion);

/// Returns true if a solution acts through a lever, which is a direction that other constraints fix
/// almost exactly. Then corrections make bodies many times as fast as each correction alone would,
/// or impulses are so large that their sum is round-off.
/// @param unilateral     impulses of the unilateral rows, size num_unilateral
/// @param y              y of the motion, after BilateralConstraints::satisfy
/// @param has_corrections false: only impulses are checked
bool is_wedged(const ReducedSystem& system, std::span<const double> unilateral,
               std::span<const double> y, bool has_corrections);

/// Returns the first equality of RigidTerms that a motion misses by more than kMissedVelocity,
/// which happens if redundant equalities contradict each other. Returns -1 if none is missed.
int find_missed_equality(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion);

}  // namespace stiction::formulations
