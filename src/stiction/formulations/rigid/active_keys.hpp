#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

/// Keys of the contacts and limits in the active sets of a step, for the warm start of the next
/// step. The key of a contact is its id. The keys of limits differ from all ids.
struct ActiveKeys {
  std::vector<std::uint64_t> first;  // of the first solve, where few contacts stick yet
  std::vector<std::uint64_t> last;   // of the last solve
};

/// Finds the keys of unilateral rows. Contacts without an id have no key.
void find_active_keys(const RigidTerms& terms, std::span<const int> active,
                      std::vector<std::uint64_t>* keys);

/// Finds the unilateral rows that have one of the keys.
/// @param keys ascending
/// @param rows out: ascending
void find_active_rows(const RigidTerms& terms, std::span<const std::uint64_t> keys,
                      std::vector<int>* rows);

}  // namespace stiction::formulations
