#pragma once

#include <span>

#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_motion.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

/// Returns true if a motion keeps contacts and limits apart, and tangents that stick at rest, all
/// within kConstraintTolerance of the fastest. Surfaces that move against each other may drive a
/// body that cannot follow both.
bool keeps_constraints(const RigidTerms& terms, const RigidIterate& iterate,
                       const RigidMotion& motion);

/// Returns true if a solution acts through a lever: along a direction that other constraints hold
/// almost exactly, corrections make bodies many times as fast as each correction alone would, or
/// take impulses so large that their sum is round-off.
/// @param unilateral     impulses of the unilateral rows, size num_unilateral
/// @param y              of the motion, the last that the bilateral constraints satisfied
/// @param has_corrections false: only impulses are checked
bool is_wedged(const ReducedSystem& system, std::span<const double> unilateral,
               std::span<const double> y, bool has_corrections);

/// Returns an equality of RigidTerms that a motion misses by more than kMissedVelocity, as where
/// redundant equalities contradict each other; -1: none.
int find_missed_equality(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion);

}  // namespace stiction::formulations
