#pragma once

#include <mujoco/mujoco.h>

#include "stiction/plant/model/model_check.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Checks the state and the model before a step, and the state after it. What is out of range fails
/// the step.
class InputCheck {
 public:
  explicit InputCheck(const mjModel* model) : number_check_(model) {}

  /// True if the model may have other values than in the last step. Only callbacks can change it
  /// within a call of Stepper::step, after its first step, and if the model is known to stay.
  bool may_have_changed_model(const StepOutputs& out) const;
  /// Fails a step if its state or an input is out of range.
  void check_state(const StepInputs& in, const mjData* data, StepOutputs* out) const;
  /// Fails a step if the caller has made the time step or a number of the model invalid.
  void check_model(const StepInputs& in, StepOutputs* out);
  /// Fails a step that ends with a state from which the next step could not start.
  /// @param start_time at which the step began [s]
  /// @return false if it fails
  bool check_end(const StepInputs& in, const mjData* data, double start_time,
                 StepOutputs* out) const;
  /// Appends to the message of a failure the value of the model that the caller has made invalid
  /// since the model was checked, if there is one.
  void explain(const StepInputs& in, StepOutputs* out) const;

  bool model_is_constant = false;  // the model stays as it is, unless a callback changes it

 private:
  plant::NumberCheck number_check_;
};

}  // namespace stiction::sim
