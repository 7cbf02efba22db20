#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::sim {

/// Adds the viscous friction -nu (S v + b) of every contact to the problem's free impulse, which
/// holds forces where accelerations take the place of velocities.
/// Source: [drumwright2015] section IV; [theory:acceleration-level].
/// @param v      velocities, in the solver's dofs
/// @param forces out: [t1, t2, n] of each contact, n = 0 [N]
void add_viscous_forces(std::span<const double> v, contact::ContactProblem* problem,
                        std::vector<std::array<double, 3>>* forces);

}  // namespace stiction::sim
