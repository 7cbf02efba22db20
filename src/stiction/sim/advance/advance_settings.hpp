#pragma once

#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// The options with which error control steps, for the time of a call. All that follows from the
/// time step must follow from one reference step, or steps of h and h/2 solve different models:
///
/// - Near-rigid stiffness, MuJoCo's refsafe, and the correction of overlaps follow from the
///   simulator's time step.
/// - The regularization sigma of friction is 0, so that creep is that of stiction_tolerance at any
///   length of the step.
/// - Trees do not sleep, because sleep counts steps.
///
/// Source: [theory:error-control].
class AdvanceSettings {
 public:
  explicit AdvanceSettings(StepContext& context);
  ~AdvanceSettings();
  AdvanceSettings(const AdvanceSettings&) = delete;
  AdvanceSettings& operator=(const AdvanceSettings&) = delete;

  /// Sets the reference time step to that of the context. Call it after StepContext::update.
  void fix_reference();
  /// Sets the length of a step [s].
  void set_time_step(double h);
  /// The tolerance of the convex solver [-].
  double tolerance() const { return context_.options.tolerance; }
  /// Makes the tolerance ten times smaller.
  /// @return false if it is as small as it gets
  bool tighten();

 private:
  static constexpr double kLeastTolerance = 1e-10;

  StepContext& context_;
  double tolerance_, friction_regularization_, gap_correction_;  // the user's
  bool may_sleep_;
};

}  // namespace stiction::sim
