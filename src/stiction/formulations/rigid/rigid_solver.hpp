#pragma once

#include <memory>

#include "stiction/formulations/contact_solver.hpp"

namespace stiction::formulations {

/// Makes the solver of a contact model with the trait is_rigid.
std::unique_ptr<ContactSolver> make_rigid_solver(contact::ContactModel model);

}  // namespace stiction::formulations
