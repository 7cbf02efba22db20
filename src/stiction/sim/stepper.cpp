#include "stiction/sim/stepper.hpp"

#include <utility>

#include "stiction/plant/model/model_check.hpp"
#include "stiction/sim/advance/advance_check.hpp"
#include "stiction/sim/options/ignored_settings.hpp"
#include "stiction/sim/stepper_workspace.hpp"

namespace stiction::sim {

Stepper::Stepper(const mjModel* model, const StepOptions& options, plant::MaterialTable materials) {
  validate(options);
  plant::check_model(model);
  check_dry_friction(model, options);
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
const StepReport& Stepper::advance(mjData* data, const AdvanceOptions& options) {
  check_can_advance(workspace_->context.options);
  check_advance(options, data);
  return workspace_->advance(data, options);
}
void Stepper::advance(mjData* data, const AdvanceOptions& options, StepReport* report) {
  std::swap(workspace_->context.report, *report);
  try {
    (void)advance(data, options);
  } catch (...) {
    std::swap(workspace_->context.report, *report);
    throw;
  }
  std::swap(workspace_->context.report, *report);
}
const StepReport& Stepper::forward(mjData* data) noexcept { return workspace_->forward(data); }
void Stepper::forward(mjData* data, StepReport* report) noexcept {
  std::swap(workspace_->context.report, *report);
  (void)workspace_->forward(data);
  std::swap(workspace_->context.report, *report);
}
std::vector<std::uint64_t> Stepper::get_state() const {
  std::vector<std::uint64_t> state;
  workspace_->get_state(&state);
  return state;
}
void Stepper::get_state(std::vector<std::uint64_t>* state) const { workspace_->get_state(state); }
void Stepper::set_state(std::span<const std::uint64_t> state) { workspace_->set_state(state); }
void Stepper::resume(std::span<const std::uint64_t> state) { workspace_->resume(state); }
std::vector<std::uint64_t> Stepper::save_anchors() const { return workspace_->save_anchors(); }
std::vector<AnchorReport> Stepper::list_anchors() const { return workspace_->list_anchors(); }
void Stepper::load_anchors(const mjData* data, std::span<const std::uint64_t> anchors) {
  workspace_->load_anchors(data, anchors);
}
void Stepper::forget_anchors() { workspace_->forget_anchors(); }
void Stepper::set_model_stays(bool model_stays) { workspace_->model_stays = model_stays; }
void Stepper::set_may_sleep(bool may_sleep) { workspace_->context.may_sleep = may_sleep; }
void Stepper::set_taxels(std::span<const plant::TaxelGrid> grids) { workspace_->set_taxels(grids); }
void Stepper::set_report_parts(const ReportParts& parts) {
  workspace_->context.report_parts = parts;
}
void Stepper::set_interrupt(bool (*is_interrupted)()) {
  workspace_->context.limits.is_interrupted = is_interrupted;
}
std::vector<double> Stepper::calc_hessian() const { return workspace_->calc_hessian(); }
const mjModel* Stepper::model() const { return workspace_->context.model; }
const StepOptions& Stepper::options() const { return workspace_->context.options; }
const plant::MaterialTable& Stepper::materials() const { return workspace_->context.materials; }
std::vector<std::string> Stepper::ignored_settings() const {
  const StepContext& context = workspace_->context;
  return find_ignored_settings(context.model, context.materials, context.options,
                               context.may_sleep);
}
double Stepper::time_step() const { return options().time_step.value_or(model()->opt.timestep); }

}  // namespace stiction::sim
