#pragma once

#include <span>

#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

/// Returns true if a motion keeps contacts and limits apart and sticking tangents at rest, all
/// within kConstraintTolerance of the fastest velocity. A solution may fail this check if one body
/// is driven by surfaces that move against each other. Contacts may move by short levers,
/// [theory:short-levers].
/// @param system projected for the motion
bool keeps_constraints(const RigidTerms& terms, const RigidIterate& iterate,
                       const ReducedSystem& system, const RigidMotion& motion);

/// Returns the speed of the fastest contact, or 1 m/s if all are slower [m/s].
double find_fastest_contact(const RigidMotion& motion);

/// Returns true if friction does positive work, as if it slipped along its impulse.
bool has_driving_friction(const RigidTerms& terms, const RigidMotion& motion);

/// Returns true if impulses are so large that their sums are round-off. They act through a lever,
/// which is a direction that other constraints fix almost exactly.
/// @param unilateral impulses of the unilateral rows, size num_unilateral
bool has_huge_impulses(const ReducedSystem& system, std::span<const double> unilateral);

/// Returns the largest norm of y that a motion may have. If s satisfies the constraints, the motion
/// has |y|^2 <= |y_free|^2 + |s|^2. The shortest s has |s| = |b| / |row| for a correction that no
/// other row restricts. Levers and wedges make it longer, up to kOverlapLeverage or kWedgeLeverage
/// times as long. Source: [theory:correction-speed].
/// @param share of the corrections that the constants of rows have; the result is that of all
double calc_fastest(const WhitenedProblem& whitened, double share);

/// Returns the equality of RigidTerms whose constant b_e, its correction and prescribed velocity,
/// makes bodies too fast. Either it drives them along a direction in which they hardly move, such
/// as the hand of a stretched arm, so that its leverage exceeds kDrivenLeverage. Or it has a
/// prescribed velocity, and the motion is faster than that leverage explains. Of several such
/// equalities it is the fastest. Speeds up to kMissedVelocity do not count. Returns -1 if there are
/// none.
/// @param share as for calc_fastest
int find_overdriven_equality(const RigidTerms& terms, const WhitenedProblem& whitened,
                             const RigidMotion& motion, double share);

/// Returns the first equality of RigidTerms that a motion misses by more than kMissedVelocity,
/// which happens if redundant equalities contradict each other. Returns -1 if none is missed.
int find_missed_equality(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion);

}  // namespace stiction::formulations
