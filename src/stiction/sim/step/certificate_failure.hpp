#pragma once

#include <string>

#include "stiction/certificate/certificate.hpp"
#include "stiction/plant/solution/momentum_check.hpp"
#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// Reports the momentum residual computed with MuJoCo's matrices, and compares it with the residual
/// of the certificate. If they differ by more than plant::MomentumCheck::Result::allowed_mismatch,
/// one of them is wrong.
/// @param duration 1 if the residuals are impulses; the time over which the forces act if they are
///     forces [s]
/// @return the verdict on their agreement
certificate::Verdict report_momentum(StepContext& context,
                                     const plant::MomentumCheck::Result& momentum,
                                     double duration = 1);

/// Fails the step, and reports the check that failed.
/// @param cause of the failure and its remedy, as the end of the message; empty if not known
void fail_certificate(StepContext& context, const certificate::FailedCheck& failed,
                      const std::string& cause = "");

}  // namespace stiction::sim
