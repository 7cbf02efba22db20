#pragma once

namespace stiction::sim {

/// Chooses the lengths of steps from their errors by a PI controller. Errors are relative to the
/// accuracy. Source: [theory:error-control].
class AdvanceControl {
 public:
  static constexpr double kLeastStep = 1e-7;  // [s]
  static constexpr double kFirstStep = 1e-3;  // [s]
  /// Smaller errors count as this one, so that a step at rest does not make the next one too long.
  static constexpr double kLeastError = 1e-3;  // [-]

  /// Begins with the length of the next step [s] and the error of the last one.
  void start(double next_step, double last_error);

  /// Returns the length of the next step [s]. A step that would leave less than its own length is
  /// replaced by two equal ones, so that no sliver is left.
  /// It exceeds max_step by rounding at most.
  /// @param left     the time that is left [s]
  /// @param max_step [s]
  double choose(double left, double max_step) const;

  /// Records a step of length h that was accepted.
  void accept(double h, double error);
  /// Records a step of length h whose error is too large. The error may be NaN or infinite.
  void reject(double h, double error);
  /// Records a step of length h that the solver failed to solve.
  void fail(double h);

  double next_step() const { return next_step_; }
  double last_error() const { return last_error_; }

 private:
  double next_step_ = kFirstStep;
  double last_error_ = 1;
};

}  // namespace stiction::sim
