#pragma once

#include <memory>

#include "stiction/formulations/contact_solver.hpp"

namespace stiction::formulations {

/// The solver of ContactModel::tamsi, see TamsiIsland. Dense: an island of n dofs costs O(n^3) an
/// iteration.
std::unique_ptr<ContactSolver> make_tamsi_solver();

}  // namespace stiction::formulations
