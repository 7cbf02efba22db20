#include "stiction/sim/stepper.hpp"

#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>
#include <variant>

#include "stiction/plant/model_check.hpp"
#include "stiction/sim/convex_step.hpp"
#include "stiction/sim/ignored_settings.hpp"
#include "stiction/sim/mujoco_step.hpp"
#include "stiction/sim/report_writer.hpp"
#include "stiction/sim/stopwatch.hpp"

namespace stiction::sim {

class Stepper::Workspace {
 public:
  Workspace(const mjModel* model, const StepOptions& options, plant::MaterialTable materials)
      : context(model, options, std::move(materials)) {
    if (options.contact_model == contact::ContactModel::mujoco)
      step_.emplace<MuJoCoStep>();
    else
      step_.emplace<ConvexStep>(options);
  }

  const StepReport& step(mjData* d, int num_steps) noexcept;

  StepContext context;

 private:
  void step_once(mjData* d);

  std::variant<std::monostate, ConvexStep, MuJoCoStep> step_;
};

const StepReport& Stepper::Workspace::step(mjData* d, int num_steps) noexcept {
  StepReport& report = context.report;
  clear_report(&report);
  try {
    for (int i = 0; i < num_steps && !context.failed(); ++i) step_once(d);
  } catch (const std::exception& e) {  // out of memory
    context.fail(kMuJoCoError, e.what());
  }
  report.time = d->time;
  return report;
}

void Stepper::Workspace::step_once(mjData* d) {
  Stopwatch clock;
  const plant::StateFault fault = plant::check_state(context.model, d);
  if (fault.array) {
    char text[160];
    std::snprintf(text, sizeof text, "%s[%d] is %g at time %g; the step was not made", fault.array,
                  fault.index, fault.value, d->time);
    return context.fail(fault.is_state ? kNonFiniteState : kNonFiniteInput, text);
  }
  context.update();
  // The caller may have changed it since the model was checked.
  const double dt = context.mirror.opt.timestep;
  if (!(dt > 0 && std::isfinite(dt))) {
    char text[120];
    std::snprintf(text, sizeof text,
                  "the model's timestep is %g, must be finite and above 0; the step was not made",
                  dt);
    return context.fail(kNonFiniteInput, text);
  }
  if (ConvexStep* convex = std::get_if<ConvexStep>(&step_))
    convex->take(context, d);
  else
    std::get<MuJoCoStep>(step_).take(context, d);
  context.report.timings.total = clock.lap();
  if (!context.failed()) ++context.report.num_steps;
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
const mjModel* Stepper::model() const { return workspace_->context.model; }
const StepOptions& Stepper::options() const { return workspace_->context.options; }
const plant::MaterialTable& Stepper::materials() const { return workspace_->context.materials; }
std::vector<std::string> Stepper::ignored_settings() const {
  const StepContext& context = workspace_->context;
  return find_ignored_settings(context.model, context.materials, context.options);
}
double Stepper::time_step() const {
  const double chosen = options().time_step;
  return chosen > 0 ? chosen : model()->opt.timestep;
}

}  // namespace stiction::sim
