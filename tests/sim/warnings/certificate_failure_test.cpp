#include "stiction/sim/step/certificate_failure.hpp"

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::certificate_failure_test {
namespace {

using contact::ContactModel;
using support::Scene;

class CertificateFailure : public testing::Test {
 protected:
  static StepContext make_context(const Scene& scene, ContactModel model) {
    return {scene.model, make_options(model), {}};
  }

  Scene scene_{support::make_mjcf("", R"(<worldbody><geom size="1"/></worldbody>)")};
};

TEST_F(CertificateFailure, MomentumResidualsMustAgreeToNineDigitsOrToRoundOff) {
  StepContext context = make_context(scene_, ContactModel::viscous);
  EXPECT_TRUE(report_momentum(context, {.residual = 1, .mismatch = 0.9e-9, .scale = 1}).ok());
  EXPECT_EQ(context.report.momentum_error, 1);
  EXPECT_FALSE(report_momentum(context, {.residual = 0.5, .mismatch = 1.1e-9, .scale = 1}).ok());
  EXPECT_EQ(context.report.momentum_error, 1);  // the worst of the step
  EXPECT_TRUE(report_momentum(context, {.mismatch = 1.1e-9, .scale = 9}).ok());
  EXPECT_TRUE(report_momentum(context, {.mismatch = 1.1e-9, .rounding = 2e-9}).ok());
  EXPECT_FALSE(report_momentum(context, {.mismatch = 1e-20}).ok());  // no absolute tolerance
  EXPECT_TRUE(report_momentum(context, {}).ok());
}

TEST_F(CertificateFailure, ForcesCountAsImpulsesOverTheirDuration) {
  StepContext context = make_context(scene_, ContactModel::viscous);
  const certificate::Verdict verdict =
      report_momentum(context, {.residual = 5, .mismatch = 2e-6, .scale = 1000}, 1e-3);
  EXPECT_EQ(context.report.momentum_error, 5e-3);
  EXPECT_DOUBLE_EQ(verdict.failed().value, 2e-9);
  EXPECT_DOUBLE_EQ(verdict.failed().limit, 1e-9);
}

TEST_F(CertificateFailure, MessageNamesTheFailedQuantityItsValueAndItsLimit) {
  StepContext context = make_context(scene_, ContactModel::lagged);
  const std::string remedy =
      "; the solution is less accurate than it should be; take a smaller step, or another contact "
      "model";
  fail_certificate(
      context, {.quantity = "adhesive normal impulse", .value = 3, .limit = 1e-9, .unit = "N s"});
  EXPECT_TRUE(context.failed());
  EXPECT_EQ(context.report.status, kCertificateFailed);
  EXPECT_FALSE(context.report.certificate.ok);
  EXPECT_EQ(context.report.certificate.failed.value, 3);
  EXPECT_EQ(context.report.message,
            "the adhesive normal impulse is 3 N s, above its limit of 1e-09 N s" + remedy);
  fail_certificate(context, {.quantity = "number of active contacts", .value = 7, .limit = 6});
  EXPECT_EQ(context.report.message,
            "the number of active contacts is 7, above its limit of 6" + remedy);
}

}  // namespace
}  // namespace stiction::sim::certificate_failure_test
