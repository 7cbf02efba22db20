#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"

namespace stiction::contact {

/// Sets BodyPair::load of all pairs to the largest mass in their island, since the heaviest body of
/// an island may rest on any of its contacts.
/// @param islands of the problem
void set_pair_loads(const Islands& islands, ContactProblem* problem);

}  // namespace stiction::contact
