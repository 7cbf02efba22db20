#pragma once

#include <vector>

#include "stiction/formulations/rigid/gap_terms.hpp"
#include "stiction/formulations/rigid/sticking_set.hpp"

namespace stiction::formulations {

/// The part of an island's problem that the loops around a solve change. RigidTerms holds the part
/// that is fixed.
struct RigidIterate {
  GapTerms gaps;  // fewer corrections after conflicts; 0 for contacts that rebound
  StickingSet sticking;
  std::vector<char> rebounds;  // 1 for contacts that rebound, size num_contacts
};

}  // namespace stiction::formulations
