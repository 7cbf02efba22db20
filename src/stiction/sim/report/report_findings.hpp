#pragma once

#include <array>

#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// What a report accumulates over the steps of a call, except the failure.
class ReportFindings {
 public:
  void read(const StepReport& report) {
    certificate_ = report.certificate;
    num_warnings_ = report.num_warnings;
    warning_ = report.warning;
    warnings_ = report.warnings;
  }
  /// Sets a report to these findings, without a failure.
  void write(StepReport* report) const {
    report->status = kOk;
    report->message.clear();
    report->certificate = certificate_;
    report->num_warnings = num_warnings_;
    report->warning = warning_;
    report->warnings = warnings_;
  }

 private:
  certificate::Certificate certificate_;
  int num_warnings_ = 0;
  WarningText warning_;
  std::array<WarningReport, kNumWarningKinds> warnings_;
};

}  // namespace stiction::sim
