#include "stiction/sim/certificate_failure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace stiction::sim {

certificate::Verdict report_momentum(StepContext& context,
                                     const plant::MomentumCheck::Result& momentum,
                                     double duration) {
  double& worst = context.report.momentum_error;
  worst = std::max(worst, duration * momentum.residual);
  // Under rigid models contacts may press against each other with impulses of any size. Round-off
  // then scales with the impulses of the contacts.
  const bool is_rigid = contact::traits(context.options.contact_model).is_rigid;
  const double scale = std::max(momentum.scale, is_rigid ? momentum.contact_scale : 0);
  constexpr double kRoundOff = 1e-9;
  certificate::Verdict verdict;
  verdict.require("disagreement of the momentum residual with MuJoCo's matrices",
                  duration * momentum.mismatch, kRoundOff * (1 + duration * scale), "sqrt(J)");
  return verdict;
}

void fail_certificate(StepContext& context, const certificate::FailedCheck& failed) {
  context.report.certificate.ok = false;
  context.report.certificate.failed = failed;
  const char* space = *failed.unit == '\0' ? "" : " ";
  char text[320];
  std::snprintf(
      text, sizeof text,
      "certificate failed: %s %.3g%s%s (limit %.3g%s%s); the solution is less accurate than it "
      "should be; take a smaller step, or another contact model",
      failed.quantity, std::abs(failed.value), space, failed.unit, failed.limit, space,
      failed.unit);
  context.fail(kCertificateFailed, text);
}

}  // namespace stiction::sim
