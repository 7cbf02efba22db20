#include "stiction/sim/step/certificate_failure.hpp"

#include <cmath>

#include "stiction/base/error.hpp"
#include "stiction/math/scalar_functions.hpp"

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
  const std::string unit = *failed.unit == '\0' ? "" : std::string(" ") + failed.unit;
  const std::string text = std::string("the ") + failed.quantity + " is " +
                           base::to_text(std::abs(failed.value), 3) + unit +
                           ", above its limit of " + base::to_text(failed.limit, 3) + unit;
  const char* unknown_cause =
      "; the solution is less accurate than it should be; take a smaller step, or another contact "
      "model";
  context.fail(kCertificateFailed, text + (cause.empty() ? unknown_cause : cause));
}

}  // namespace stiction::sim
