#pragma once

#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Returns the largest energy that corrections of positions and moving surfaces may add in a step
/// of a rigid model [J].
///
/// In an island, let c be the largest speed of a correction or surface, and m the sum of the masses
/// of its bodies, to which dampers and springs do not add. The bodies then need at most the energy
/// m c^2 / 2, unless levers or wedges make them move faster than c. A ratio of 60 is allowed.
/// Constraints that nearly contradict each other exceed it: they throw bodies apart. The result is
/// infinite if a pair with a correction has no masses. Source: [theory:energy-check].
double calc_driving_energy(const SolvedStep& step);

}  // namespace stiction::certificate
