#pragma once

#include <memory>

#include "stiction/formulations/contact_solver.hpp"

namespace stiction::formulations {

/// Makes the solver of ContactModel::tamsi, see TamsiIsland. Its matrices are dense: an iteration
/// for an island of n dofs costs O(n^3).
std::unique_ptr<ContactSolver> make_tamsi_solver();

}  // namespace stiction::formulations
