#pragma once

#include "stiction/certificate/certificate.hpp"
#include "stiction/plant/momentum_check.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// Reports the momentum residual computed with MuJoCo's matrices, and compares it with that of the
/// certificate. The two must agree to 1e-9 of the largest impulse or of 1 sqrt(J), whichever is
/// larger; otherwise one of them is wrong.
/// @param duration time over which forces act that take the place of impulses [s]; 1 for impulses
/// @return the check of their agreement
certificate::Verdict report_momentum(StepContext& context,
                                     const plant::MomentumCheck::Result& momentum,
                                     double duration = 1);

/// Fails the step, and reports the check that failed.
void fail_certificate(StepContext& context, const certificate::FailedCheck& failed);

}  // namespace stiction::sim
