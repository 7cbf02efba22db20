#pragma once

#include "stiction/certificate/certificate.hpp"
#include "stiction/plant/momentum_check.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// Takes the momentum residual by MuJoCo's matrices to the report, and compares it with that of the
/// certificate. Two computations of one residual differ by round-off, or one of them is wrong: they
/// must agree to 1e-9 of the largest impulse, and of 1 sqrt(J) at least.
/// @param duration over which the forces act that take the place of impulses [s]; else 1
certificate::Verdict report_momentum(StepContext& context,
                                     const plant::MomentumCheck::Result& momentum,
                                     double duration = 1);

/// Ends the step with the check that failed.
void fail_certificate(StepContext& context, const certificate::FailedCheck& failed);

}  // namespace stiction::sim
