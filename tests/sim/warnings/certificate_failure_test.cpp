#include "stiction/sim/step/step_outputs.hpp"

#include <gtest/gtest.h>

#include "sim/step/stepping.hpp"

namespace stiction::sim::certificate_failure_test {
namespace {

using support::Scene;

class CertificateFailure : public testing::Test {
 protected:
  Scene scene_{support::make_mjcf("", R"(<worldbody><geom size="1"/></worldbody>)")};
  StepOutputs out_{scene_.model, OnFailure::stop};
};

TEST_F(CertificateFailure, MomentumResidualsMustAgreeToNineDigitsOrToRoundOff) {
  EXPECT_TRUE(out_.report_momentum({.residual = 1, .mismatch = 0.9e-9, .scale = 1}).ok());
  EXPECT_EQ(out_.report->momentum_error, 1);
  EXPECT_FALSE(out_.report_momentum({.residual = 0.5, .mismatch = 1.1e-9, .scale = 1}).ok());
  EXPECT_EQ(out_.report->momentum_error, 1);  // the worst of the step
  EXPECT_TRUE(out_.report_momentum({.mismatch = 1.1e-9, .scale = 9}).ok());
  EXPECT_TRUE(out_.report_momentum({.mismatch = 1.1e-9, .rounding = 2e-9}).ok());
  EXPECT_FALSE(out_.report_momentum({.mismatch = 1e-20}).ok());  // no absolute tolerance
  EXPECT_TRUE(out_.report_momentum({}).ok());
}

TEST_F(CertificateFailure, ForcesCountAsImpulsesOverTheirDuration) {
  const certificate::Verdict verdict =
      out_.report_momentum({.residual = 5, .mismatch = 2e-6, .scale = 1000}, 1e-3);
  EXPECT_EQ(out_.report->momentum_error, 5e-3);
  EXPECT_DOUBLE_EQ(verdict.failed().value, 2e-9);
  EXPECT_DOUBLE_EQ(verdict.failed().limit, 1e-9);
}

TEST_F(CertificateFailure, MessageNamesTheFailedQuantityItsValueAndItsLimit) {
  const std::string remedy =
      "; the solution is less accurate than it should be; take a smaller step, or another contact "
      "model";
  out_.fail_certificate(
      {.quantity = "adhesive normal impulse", .value = 3, .limit = 1e-9, .unit = "N s"});
  EXPECT_TRUE(out_.failed());
  EXPECT_EQ(out_.report->status, kCertificateFailed);
  EXPECT_FALSE(out_.report->certificate.ok);
  EXPECT_EQ(out_.report->certificate.failed.value, 3);
  EXPECT_EQ(out_.report->message,
            "the adhesive normal impulse is 3 N s, above its limit of 1e-09 N s" + remedy);
  out_.fail_certificate({.quantity = "number of active contacts", .value = 7, .limit = 6});
  EXPECT_EQ(out_.report->message,
            "the number of active contacts is 7, above its limit of 6" + remedy);
}

}  // namespace
}  // namespace stiction::sim::certificate_failure_test
