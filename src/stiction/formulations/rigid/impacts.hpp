#pragma once

#include <vector>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/formulations/rigid/conflict_fallbacks.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"

namespace stiction::formulations {

/// The phases of an impact. Arrays keep their memory.
struct ImpactPhases {
  std::vector<char> hits;          // 1 for contacts that hit, size num_contacts
  GapTerms gaps;                   // of the impact
  RigidImpulses impulses;          // sums over the phases so far
  std::vector<double> start;       // y at the start of the step [sqrt(J)]
  std::vector<double> compressed;  // y when compression ends [sqrt(J)]
  std::vector<double> rebound;     // change of y by the whole rebound [sqrt(J)]
  std::vector<double> restituted;  // y when the impact ends [sqrt(J)]
  std::vector<double> forced;      // the same with the forces of the step [sqrt(J)]
  FrictionConstants proportional;  // only the friction that grows with normal impulses
};

struct ImpactResult {
  contact::SolveStatus status = contact::SolveStatus::kConverged;
  bool has_impacts = false;  // true: the motion has changed
};

/// Solves the impacts of contacts with restitution at the start of the step, and the step from the
/// motion after them. Contacts that press then stick, and both are solved again until no contact is
/// added to those. Source: [theory:poisson-restitution].
/// @param iterate in and out: contacts that press stick
/// @param motion  in: without restitution; out: with it
ImpactResult resolve_impacts(const RigidTerms& terms, ConflictFallbacks* fallbacks,
                             RigidIterate* iterate, ReducedSystem* system, ImpactPhases* phases,
                             RigidMotion* motion);

/// Returns the largest share s in [0, 1] of a rebound that returns at most the energy that
/// compression took, s separating + s^2 moving <= taken. Source: [theory:rebound-share].
/// @param taken      energy that compression took [J]
/// @param separating work of the whole rebound at the velocities after compression [J]
/// @param moving     kinetic energy of the whole rebound by itself [J], >= 0
double calc_rebound_share(double taken, double separating, double moving);

}  // namespace stiction::formulations
