#pragma once

#include "campaign/step_laws.hpp"

namespace stiction::campaign {

/// Takes a step whole and in 2, 4, ... 64 parts. The velocities at its end must converge.
void check_halving(const World& world, const support::Scene& start, const sim::StepOptions& options,
                   const plant::MaterialTable& materials, Ledger* ledger);

/// Runs a calm world until it rests. The ground must then bear its weight.
void check_rest(const World& world, const sim::StepOptions& options, Ledger* ledger);

}  // namespace stiction::campaign
