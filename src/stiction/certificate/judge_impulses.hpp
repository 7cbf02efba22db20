#pragma once

#include "stiction/certificate/certificate.hpp"

namespace stiction::certificate {

/// Checks what holds for the impulses of every model: they are finite and follow their laws, normal
/// impulses do not pull, and friction is within its bound.
/// @param certificate whose impulse errors are known
/// @param tolerance   of all of them [N s]
void judge_impulses(const Certificate& certificate, bool is_finite, double tolerance,
                    Verdict* verdict);

}  // namespace stiction::certificate
