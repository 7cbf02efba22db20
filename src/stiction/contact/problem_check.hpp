#pragma once

#include <string>

#include "stiction/contact/contact_problem.hpp"

/// Checks of a contact problem that a caller assembled.
namespace stiction::contact {

/// Checks all requirements of ContactProblem: sizes, indices, contiguous contacts, orthonormal
/// frames, and numbers that are finite and in range. Solvers do not check their input, so a wrong
/// index is undefined behaviour. Call this function in tests, and while you connect an engine.
/// It reads the whole problem once and allocates only if it finds a fault.
/// @throws Error for the first fault, with the array, the index, the value and the requirement
void validate(const ContactProblem& problem);

/// Returns a description of the first fault in sizes and indices, or an empty text. Does not check
/// numbers: solvers report non-finite ones by a status.
std::string find_index_fault(const ContactProblem& problem);

}  // namespace stiction::contact
