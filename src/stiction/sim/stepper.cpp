#include "stiction/sim/stepper.hpp"

#include <algorithm>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/plant/model/model_check.hpp"
#include "stiction/sim/options/ignored_settings.hpp"
#include "stiction/sim/stepper_workspace.hpp"

namespace stiction::sim {
namespace {

/// Makes a report of the caller that of the workspace, as long as this object lives.
class Lent {
 public:
  Lent(StepReport** report, StepReport* lent) : report_(report), own_(*report) { *report = lent; }
  ~Lent() { *report_ = own_; }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  StepReport** report_;
  StepReport* own_;
};

/// @throws Error if the friction law has no anchors
void require_anchors(const StepOptions& options, const char* function) {
  if (!has_anchors(options.parameters))
    throw Error(ErrorCode::kUnsupported, function,
                "needs the friction law 'elastic', but the friction law is '" +
                    std::string(name_of(options.parameters.friction_law)) + "'");
}

}  // namespace

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
  const Lent lent(&workspace_->out.report, report);
  (void)step(data, num_steps);
}
const StepReport& Stepper::advance(mjData* data, const AdvanceOptions& options) {
  check_can_advance(workspace_->options);
  check_advance(options, data);
  return workspace_->advance(data, options);
}
void Stepper::advance(mjData* data, const AdvanceOptions& options, StepReport* report) {
  const Lent lent(&workspace_->out.report, report);
  (void)advance(data, options);
}
const StepReport& Stepper::forward(mjData* data) noexcept { return workspace_->forward(data); }
void Stepper::forward(mjData* data, StepReport* report) noexcept {
  const Lent lent(&workspace_->out.report, report);
  (void)forward(data);
}
std::vector<double> Stepper::calc_hessian() const { return workspace_->calc_hessian(); }

std::vector<std::uint64_t> Stepper::get_state() const {
  std::vector<std::uint64_t> state;
  get_state(&state);
  return state;
}
void Stepper::get_state(std::vector<std::uint64_t>* state) const {
  workspace_->memories.write(state);
}
void Stepper::turn_to(const mjData* data) { workspace_->memories.turn_to(data); }
void Stepper::set_state(std::span<const std::uint64_t> state) { workspace_->set_state(state); }
void Stepper::resume(std::span<const std::uint64_t> state) { workspace_->memories.read(state); }

std::vector<std::uint64_t> Stepper::save_anchors() const {
  require_anchors(options(), "save_anchors");
  const auto key = workspace_->memories.make_key();
  std::vector<std::uint64_t> state(key.begin(), key.end());
  base::WordWriter words(&state);
  workspace_->memories.anchors.write(&words);
  return state;
}
std::vector<AnchorReport> Stepper::list_anchors() const {
  require_anchors(options(), "list_anchors");
  return sim::list_anchors(workspace_->memories.anchors.memory().step);
}
void Stepper::load_anchors(const mjData* data, std::span<const std::uint64_t> anchors) {
  require_anchors(options(), "load_anchors");
  const auto key = workspace_->memories.make_key();
  if (anchors.size() <= key.size() || !std::equal(key.begin(), key.end(), anchors.begin()))
    throw Error(ErrorCode::kWrongShape, "anchors",
                "do not belong to a simulator of this model with this contact model and "
                "integrator; take those of Simulator.save_anchors()");
  workspace_->memories.turn_to(data);
  AnchorMemory memory;
  base::WordReader words(anchors.subspan(key.size()));
  try {
    memory.read(model(), &words);
  } catch (const Error&) {
    throw Error(
        ErrorCode::kWrongShape, "anchors",
        "have wrong numbers: they were cut off or altered, or belong to another model; take "
        "those of Simulator.save_anchors()");
  }
  if (!words.rest().empty())
    throw Error(ErrorCode::kWrongShape, "anchors", "have more numbers than they need");
  if (memory.end != 0 && memory.end != hash_positions(model(), data))
    throw Error(ErrorCode::kInvalidValue, "anchors",
                "are those of another time or other positions than data has; restore the state at "
                "which they were saved, or call forget_anchors to begin without stretches");
  workspace_->memories.anchors.set_memory(std::move(memory));
}
void Stepper::forget_anchors() {
  require_anchors(options(), "forget_anchors");
  workspace_->memories.anchors.forget();
}

void Stepper::set_model_is_constant(bool model_is_constant) {
  workspace_->input_check.model_is_constant = model_is_constant;
}
void Stepper::set_may_sleep(bool may_sleep) { workspace_->may_sleep = may_sleep; }
void Stepper::set_taxels(std::span<const plant::TaxelGrid> grids) { workspace_->set_taxels(grids); }
void Stepper::set_report_parts(const ReportParts& parts) { workspace_->out.parts = parts; }
void Stepper::set_interrupt(bool (*is_interrupted)()) {
  workspace_->limits.is_interrupted = is_interrupted;
}
const mjModel* Stepper::model() const { return workspace_->model; }
const StepOptions& Stepper::options() const { return workspace_->options; }
const plant::MaterialTable& Stepper::materials() const { return workspace_->materials; }
std::vector<std::string> Stepper::ignored_settings() const {
  return find_ignored_settings(model(), materials(), options(), workspace_->may_sleep);
}
double Stepper::time_step() const { return options().time_step.value_or(model()->opt.timestep); }

}  // namespace stiction::sim
