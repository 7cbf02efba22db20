#include "stiction/sim/step/input_check.hpp"

#include <cmath>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/plant/model/model_check.hpp"

namespace stiction::sim {
namespace {

/// Returns "qpos[3]".
std::string name(const plant::StateFault& fault) {
  return std::string(fault.array) + "[" + std::to_string(fault.index) + "]";
}

}  // namespace

bool InputCheck::may_have_changed_model(const StepOutputs& out) const {
  const bool has_callback = mjcb_control || mjcb_passive || mjcb_contactfilter || mjcb_sensor ||
                            mjcb_act_dyn || mjcb_act_gain || mjcb_act_bias;
  return (!model_is_constant && out.report->num_steps == 0) || has_callback;
}

void InputCheck::check_state(const StepInputs& in, const mjData* d, StepOutputs* out) const {
  const plant::StateFault fault = plant::check_state(in.model, d);
  if (fault.array)
    out->fail(fault.is_state ? kNonFiniteState : kNonFiniteInput,
              name(fault) + " is " + base::to_text(fault.value) + " at time " +
                  base::to_text(d->time) +
                  ", must be within [-1e10, 1e10]; the step was not taken");
}

void InputCheck::check_model(const StepInputs& in, StepOutputs* out) {
  // The caller may have changed the time step since the model was checked.
  const double dt = in.time_step();
  if (!(dt > 0 && std::isfinite(dt)))
    out->fail(kNonFiniteInput,
              "the model's timestep is " + base::to_text(dt) +
                  ", must be finite and above 0; correct model.opt.timestep; the step was not "
                  "taken");
  else if (may_have_changed_model(*out) && !number_check_.all_in_range())
    out->fail(kNonFiniteInput, plant::find_fault(in.model) + "; the step was not taken");
}

bool InputCheck::check_end(const StepInputs& in, const mjData* d, double start_time,
                           StepOutputs* out) const {
  const plant::StateFault fault = plant::check_state(in.model, d, false);
  if (!fault.array) return true;
  out->fail(kNonFiniteSolution,
            name(fault) + " would be " + base::to_text(fault.value) +
                " at the end of the step from time " + base::to_text(start_time) +
                ", because the motion is too fast for the time step; use a smaller one");
  return false;
}

void InputCheck::explain(const StepInputs& in, StepOutputs* out) const {
  constexpr std::uint32_t kCauses = kNonFiniteState | kNotConverged | kNotPositiveDefinite |
                                    kNonFiniteSolution | kCertificateFailed;
  if (!out->failed() || !(out->report->status & kCauses)) return;
  const std::string cause = plant::explain_failure(in.model);
  if (!cause.empty()) out->report->message += "; " + cause;
}

}  // namespace stiction::sim
