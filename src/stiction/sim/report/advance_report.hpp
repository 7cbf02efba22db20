#pragma once

namespace stiction::sim {

/// The steps of a call of Stepper::advance. All are 0 after other calls.
struct AdvanceReport {
  double until = 0;              // the argument [s]
  double accuracy = 0;           // the argument [m]
  int num_steps = 0;             // steps that were accepted
  int num_rejected = 0;          // steps that were taken again with a smaller length
  int num_failed = 0;            // those of them whose solver or certificate failed
  int num_not_extrapolated = 0;  // steps in which an island was not extrapolated
  int num_inaccurate = 0;        // steps of the least length that missed the accuracy
  double first_step = 0;         // the length that was planned when the call began [s]
  double first_error = 0;    // the error of the step before the call, relative to the accuracy [-]
  double smallest_step = 0;  // [s]
  double largest_step = 0;   // [s]
  double next_step = 0;      // the length that the next call begins with [s]
  double last_error = 0;     // the error of the last step, relative to the accuracy [-]
  /// The sum and the largest of the errors of all steps [m]. An error is local: it says how far a
  /// point is from where it should be by one step from the state at its start. The sum is how far
  /// it would be if every error were carried along unchanged. It is no bound of the global error.
  double sum_of_errors = 0;
  double largest_error = 0;

  bool accuracy_reached() const { return num_inaccurate == 0; }
};

}  // namespace stiction::sim
