#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// Takes a step with MuJoCo's own mj_step and writes its contacts to our report. It is the baseline
/// of comparisons.
class MuJoCoStep {
 public:
  MuJoCoStep(const mjModel* model, StepOutputs* out) : out_(*out), start_(model) {}

  /// Takes a step. If MuJoCo resets the state, restores it and fails.
  void take(const StepInputs& in, mjData* d);
  /// Calls mj_forward.
  void forward(const StepInputs& in, mjData* d);
  void follow_model(const StepInputs&) {}

 private:
  void report_contacts(const StepInputs& in, mjData* d);

  StepOutputs& out_;
  contact::ContactProblem problem_;
  contact::ContactSolution solution_;
  KeptState start_;
};

}  // namespace stiction::sim
