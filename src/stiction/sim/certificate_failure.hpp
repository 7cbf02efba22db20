#pragma once

#include "stiction/certificate/certificate.hpp"
#include "stiction/plant/momentum_check.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// Adds the momentum residual by MuJoCo's matrices to the report, and compares it with that of the
/// certificate. The two must agree to 1e-9 of the largest impulse or of 1 sqrt(J), whichever is
/// larger: two computations of one residual differ by round-off, or one of them is wrong.
/// @param duration over which forces act, if they take the place of impulses [s]; else 1
/// @return the verdict, for fail_certificate
certificate::Verdict report_momentum(StepContext& context,
                                     const plant::MomentumCheck::Result& momentum,
                                     double duration = 1);

/// Fails the step because of a check of its certificate.
void fail_certificate(StepContext& context, const certificate::FailedCheck& failed);

}  // namespace stiction::sim
