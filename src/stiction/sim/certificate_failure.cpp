#include "stiction/sim/certificate_failure.hpp"

#include <cmath>
#include <cstdio>

#include "stiction/math/max_or_nan.hpp"

namespace stiction::sim {

certificate::Verdict report_momentum(StepContext& context,
                                     const plant::MomentumCheck::Result& momentum,
                                     double duration) {
  double& worst = context.report.momentum_error;
  worst = math::max_or_nan(worst, duration * momentum.residual);
  certificate::Verdict verdict;
  verdict.require("disagreement of the momentum residual with MuJoCo's matrices",
                  duration * momentum.mismatch, duration * momentum.allowed_mismatch(), "sqrt(J)");
  return verdict;
}

void fail_certificate(StepContext& context, const certificate::FailedCheck& failed,
                      const std::string& cause) {
  context.report.certificate.ok = false;
  context.report.certificate.failed = failed;
  const char* space = *failed.unit == '\0' ? "" : " ";
  char text[200];
  std::snprintf(text, sizeof text, "certificate failed: %s %.3g%s%s (limit %.3g%s%s)",
                failed.quantity, std::abs(failed.value), space, failed.unit, failed.limit, space,
                failed.unit);
  const char* unknown_cause =
      "; the solution is less accurate than it should be; take a smaller step, or another contact "
      "model";
  context.fail(kCertificateFailed, text + (cause.empty() ? unknown_cause : cause));
}

}  // namespace stiction::sim
