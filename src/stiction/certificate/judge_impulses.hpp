#pragma once

#include "stiction/certificate/certificate.hpp"

namespace stiction::certificate {

/// Checks the properties that impulses have in every model: they are finite, they follow their
/// laws, contacts do not pull, and friction is within its bound.
/// @param certificate holds the errors of the impulses
/// @param tolerance   limit of each error [N s]
void judge_impulses(const Certificate& certificate, bool is_finite, double tolerance,
                    Verdict* verdict);

}  // namespace stiction::certificate
