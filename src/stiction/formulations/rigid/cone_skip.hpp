#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone_blocks.hpp"

/// Many equal proximal steps at once. Where rows depend on each other and their constants
/// contradict each other slightly, a step adds the same small impulses as the step before, until a
/// contact slips or opens. Source: [theory:friction-cone-newton].
namespace stiction::formulations {

/// Returns after how many more changes of the impulses r the first block that is inside its set
/// reaches a bound; infinity: none does.
double count_steps_to_bound(const ConeBlocks& blocks, std::span<const BlockVector> r,
                            std::span<const BlockVector> change);

/// Adds `count` changes to the impulses r, within the sets of the blocks.
void add_steps(const ConeBlocks& blocks, double count, std::span<const BlockVector> r,
               std::span<const BlockVector> change, std::vector<BlockVector>* out);

}  // namespace stiction::formulations
