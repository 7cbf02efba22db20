#pragma once

#include <vector>

#include "stiction/formulations/rigid/dry_friction_iteration.hpp"
#include "stiction/formulations/rigid/gap_terms.hpp"
#include "stiction/formulations/rigid/sticking_set.hpp"

namespace stiction::formulations {

/// What the loops around a solve change; everything else about an island is fixed in RigidTerms.
struct RigidIterate {
  GapTerms gaps;  // less where corrections conflict, 0 of contacts that rebound
  StickingSet sticking;
  DryFrictionIteration friction;
  std::vector<char> rebounds;  // 1 of contacts that hit with restitution, size num_contacts
};

}  // namespace stiction::formulations
