#pragma once

#include <optional>

namespace stiction::sim {

/// The arguments of Stepper::advance.
struct AdvanceOptions {
  /// The time at which the call ends [s]; not before that of the data.
  double until = 0;
  /// The largest error of a step [m], see AdvanceNorm.
  double accuracy = 1e-4;
  /// The largest step [s], at least AdvanceControl::kLeastStep; empty: the whole call.
  std::optional<double> max_time_step = std::nullopt;
  /// The length of the first step [s], > 0; empty: that which the last call proposed, or 1 ms.
  std::optional<double> first_step = std::nullopt;
  /// The error of the step before, relative to the accuracy, in (0, 1]; the controller reads it.
  /// Empty: that of the last call, or 1.
  std::optional<double> last_error = std::nullopt;
  /// True to end a step with the extrapolated state where motion is smooth, see
  /// AdvanceExtrapolation. False: every state is the solution of a contact problem, and has its
  /// certificate.
  bool extrapolate = true;
};

}  // namespace stiction::sim
