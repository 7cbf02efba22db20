#pragma once

#include <string>

#include "campaign/ledger.hpp"

namespace stiction::campaign {

/// Checks the laws on the world of a seed.
/// @param model the name of the only contact model to use; empty: all
void check_world(std::uint64_t seed, const std::string& model, Ledger* ledger);

}  // namespace stiction::campaign
