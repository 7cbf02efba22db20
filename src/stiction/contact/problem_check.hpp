#pragma once

#include <string>

#include "stiction/contact/contact_problem.hpp"

/// Checks of a contact problem that a caller assembled.
namespace stiction::contact {

/// Checks everything that ContactProblem asks of its arrays: sizes, indices, contiguous contacts,
/// orthonormal frames, and numbers that are finite and in range. Solvers do not check: to them a
/// wrong index is undefined behaviour. Call this while an engine's glue is written, and in tests.
/// It reads the whole problem once and allocates only for a fault.
/// @throws Error for the first fault, naming the array, the index, the value and what is asked for
void validate(const ContactProblem& problem);

/// The first fault in sizes and indices, or an empty text. Numbers are not looked at: a solver
/// reports those that are not finite by a status.
std::string find_index_fault(const ContactProblem& problem);

}  // namespace stiction::contact
