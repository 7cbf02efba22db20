#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::sim {

/// Adds the viscous friction -nu (S v + b) of every contact to the problem's free impulse. The
/// problem is one of accelerations, so its free impulse holds forces.
/// Source: [drumwright2015] section IV; [theory:acceleration-level].
/// @param v      velocities in the solver's dofs, size num_dofs [rad/s, m/s]
/// @param forces out: the friction [t1, t2, 0] of each contact [N]
void add_viscous_forces(std::span<const double> v, contact::ContactProblem* problem,
                        std::vector<std::array<double, 3>>* forces);

}  // namespace stiction::sim
