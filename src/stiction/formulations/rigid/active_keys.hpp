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

/// Appends keys to `words`, for ContactSolver::write_memory.
void write_keys(const ActiveKeys& keys, std::vector<std::uint64_t>* words);
/// Reads the words of write_keys from the front of `words` and removes them there.
/// @throws Error if the words are not those of keys
void read_keys(std::span<const std::uint64_t>* words, ActiveKeys* keys);

/// Finds the keys of unilateral rows. Contacts without an id have no key.
void find_active_keys(const RigidTerms& terms, std::span<const int> active,
                      std::vector<std::uint64_t>* keys);

/// Finds the unilateral rows that have one of the keys.
/// @param keys ascending
/// @param rows out: ascending
void find_active_rows(const RigidTerms& terms, std::span<const std::uint64_t> keys,
                      std::vector<int>* rows);

}  // namespace stiction::formulations
