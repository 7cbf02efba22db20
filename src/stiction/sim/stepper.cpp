#include "stiction/sim/stepper.hpp"

#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>
#include <variant>

#include "stiction/base/error.hpp"
#include "stiction/plant/model_check.hpp"
#include "stiction/plant/solver_outputs.hpp"
#include "stiction/sim/contact_step.hpp"
#include "stiction/sim/event_step.hpp"
#include "stiction/sim/ignored_settings.hpp"
#include "stiction/sim/mujoco_step.hpp"
#include "stiction/sim/report_writer.hpp"
#include "stiction/sim/rk4_step.hpp"
#include "stiction/sim/stopwatch.hpp"

namespace stiction::sim {

class Stepper::Workspace {
 public:
  Workspace(const mjModel* model, const StepOptions& options, plant::MaterialTable materials)
      : context(model, options, std::move(materials)) {
    if (contact::traits(options.contact_model).is_mj_step) return;
    state_.resize(mj_stateSize(model, mjSTATE_INTEGRATION));
    switch (options.integrator) {
      case Integrator::euler: step_.emplace<ContactStep>(model, options, context.materials); break;
      case Integrator::event_driven:
        step_.emplace<EventStep>(model, options, context.materials);
        break;
      case Integrator::rk4: step_.emplace<Rk4Step>(model, options, context.materials); break;
    }
  }

  const StepReport& step(mjData* d, int num_steps) noexcept;
  const StepReport& forward(mjData* d) noexcept;
  std::vector<double> calc_hessian() const;

  StepContext context;

 private:
  void begin(mjData* d);
  void step_once(mjData* d);
  void evaluate(mjData* d);
  void check_end(mjData* d);
  void explain();

  std::variant<MuJoCoStep, ContactStep, EventStep, Rk4Step> step_;
  std::vector<mjtNum>
      state_;  // at the start of the step; empty for MuJoCoStep, which keeps its own
};

const StepReport& Stepper::Workspace::step(mjData* d, int num_steps) noexcept {
  StepReport& report = context.report;
  clear_report(&report);
  try {
    for (int i = 0; i < num_steps && !context.failed(); ++i) step_once(d);
    explain();
  } catch (const std::exception& e) {  // out of memory
    context.fail(kMuJoCoError, e.what());
  }
  report.time = d->time;
  return report;
}

const StepReport& Stepper::Workspace::forward(mjData* d) noexcept {
  StepReport& report = context.report;
  clear_report(&report);
  try {
    Stopwatch clock;
    begin(d);
    if (!context.failed()) evaluate(d);
    report.timings.total = clock.lap();
    explain();
  } catch (const std::exception& e) {  // out of memory
    context.fail(kMuJoCoError, e.what());
  }
  report.time = d->time;
  return report;
}

void Stepper::Workspace::evaluate(mjData* d) {
  // Sensors with a delay and plugins change their part of the state.
  constexpr int kState = mjSTATE_FULLPHYSICS;
  if (!state_.empty()) mj_getState(context.model, d, state_.data(), kState);
  std::visit([&](auto& step) { step.forward(context, d); }, step_);
  context.update();
  if (state_.empty()) return;
  mj_setState(context.model, d, state_.data(), kState);
  plant::write_solver_outputs(context.model, d, context.report.statistics.iterations);
}

std::vector<double> Stepper::Workspace::calc_hessian() const {
  const auto* step = std::get_if<ContactStep>(&step_);
  const std::vector<double> H = step ? step->calc_hessian() : std::vector<double>();
  const contact::ContactModelTraits& model = contact::traits(context.options.contact_model);
  if (H.empty())
    throw Error(ErrorCode::kUnsupported, "calc_hessian",
                model.is_mj_step
                    ? "'" + std::string(model.name) + "' has no Hessian; use a convex contact model"
                    : "there is no Hessian; use a convex contact model, and take a step first");
  return H;
}

/// Checks the state and the inputs of a step, and reads the values of the model that may change.
/// The step fails if it must not be taken.
void Stepper::Workspace::begin(mjData* d) {
  clear_trace(&context.report.trace);
  const plant::StateFault fault = plant::check_state(context.model, d);
  if (fault.array) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "%s[%d] is %s at time %s, must be within [-1e10, 1e10]; the step was not taken",
                  fault.array, fault.index, plant::format_value(fault.value).c_str(),
                  plant::format_value(d->time).c_str());
    return context.fail(fault.is_state ? kNonFiniteState : kNonFiniteInput, text);
  }
  context.update();
  // The caller may have changed the time step since the model was checked.
  const double dt = context.mirror.opt.timestep;
  if (!(dt > 0 && std::isfinite(dt)))
    return context.fail(kNonFiniteInput,
                        "the model's timestep is " + plant::format_value(dt) +
                            ", must be finite and above 0; the step was not taken");
  if (!plant::has_sound_bodies(context.model)) {
    const std::string text = plant::explain_failure(context.model);
    if (!text.empty()) return context.fail(kNonFiniteInput, text + "; the step was not taken");
  }
}

void Stepper::Workspace::step_once(mjData* d) {
  Stopwatch clock;
  begin(d);
  if (context.failed()) return;
  if (!state_.empty()) mj_getState(context.model, d, state_.data(), mjSTATE_INTEGRATION);
  std::visit([&](auto& step) { step.take(context, d); }, step_);
  if (!state_.empty() && !context.failed()) {
    plant::write_solver_outputs(context.model, d, context.report.statistics.iterations);
    check_end(d);
  }
  context.report.timings.total = clock.lap();
  if (!context.failed()) ++context.report.num_steps;
}

/// Fails a step that ends with a state from which the next step could not start.
void Stepper::Workspace::check_end(mjData* d) {
  const plant::StateFault fault = plant::check_state(context.model, d);
  if (!fault.array || !fault.is_state) return;
  mj_setState(context.model, d, state_.data(), mjSTATE_INTEGRATION);
  char text[200];
  std::snprintf(text, sizeof text,
                "%s[%d] would be %s at the end of the step from time %s, because the motion is too "
                "fast for the time step; use a smaller one",
                fault.array, fault.index, plant::format_value(fault.value).c_str(),
                plant::format_value(d->time).c_str());
  context.fail(kNonFiniteSolution, text);
}

/// Appends to the message the value of the model that the caller has made invalid since the model
/// was checked, if there is one.
void Stepper::Workspace::explain() {
  constexpr std::uint32_t kCauses = kNonFiniteState | kNotConverged | kNotPositiveDefinite |
                                    kNonFiniteSolution | kCertificateFailed;
  if (!context.failed() || !(context.report.status & kCauses)) return;
  const std::string cause = plant::explain_failure(context.model);
  if (!cause.empty()) context.report.message += "; " + cause;
}

Stepper::Stepper(const mjModel* model, const StepOptions& options, plant::MaterialTable materials) {
  validate(options);
  plant::check_model(model);
  workspace_ = std::make_unique<Workspace>(model, options, std::move(materials));
}
Stepper::~Stepper() = default;
Stepper::Stepper(Stepper&&) noexcept = default;
Stepper& Stepper::operator=(Stepper&&) noexcept = default;

const StepReport& Stepper::step(mjData* data, int num_steps) noexcept {
  return workspace_->step(data, num_steps);
}
void Stepper::step(mjData* data, int num_steps, StepReport* report) noexcept {
  std::swap(workspace_->context.report, *report);
  (void)workspace_->step(data, num_steps);
  std::swap(workspace_->context.report, *report);
}
const StepReport& Stepper::forward(mjData* data) noexcept { return workspace_->forward(data); }
void Stepper::forward(mjData* data, StepReport* report) noexcept {
  std::swap(workspace_->context.report, *report);
  (void)workspace_->forward(data);
  std::swap(workspace_->context.report, *report);
}
std::vector<double> Stepper::calc_hessian() const { return workspace_->calc_hessian(); }
const mjModel* Stepper::model() const { return workspace_->context.model; }
const StepOptions& Stepper::options() const { return workspace_->context.options; }
const plant::MaterialTable& Stepper::materials() const { return workspace_->context.materials; }
std::vector<std::string> Stepper::ignored_settings() const {
  const StepContext& context = workspace_->context;
  return find_ignored_settings(context.model, context.materials, context.options);
}
double Stepper::time_step() const { return options().time_step.value_or(model()->opt.timestep); }

}  // namespace stiction::sim
