#include "stiction/sim/stepper_workspace.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/sim/report/report_writer.hpp"
#include "stiction/sim/report/warning_table.hpp"
#include "stiction/sim/step/step_outputs.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"
#include "stiction/sim/warnings/failure_text.hpp"
#include "stiction/sim/warnings/motion_warnings.hpp"

namespace stiction::sim {
namespace {

StepStatus status_of(base::StopReason reason) {
  switch (reason) {
    case base::StopReason::kOutOfTime: return kOutOfTime;
    case base::StopReason::kOutOfIterations: return kOutOfIterations;
    case base::StopReason::kInterrupted:
    case base::StopReason::kNone: break;
  }
  return kInterrupted;
}

}  // namespace

Stepper::Workspace::Workspace(const mjModel* model, const StepOptions& given,
                              plant::MaterialTable materials)
    : model(model),
      options(resolve(given, materials)),
      materials(materials.geoms.empty() ? plant::make_default_materials(model)
                                        : std::move(materials)),
      plant(model),
      models(model, options),
      memories(model, options, &plant),
      out(model, options.on_failure),
      input_check(model),
      in_{.model = model,
          .models = models,
          .options = options,
          .materials = this->materials,
          .plant = plant,
          .mocap = memories.mocap.motion},
      step_(std::in_place_type<MuJoCoStep>, model, &out),
      start_(model) {
  set_taxels({});
  if (in_.contact_model().is_mj_step) return;  // mj_step knows no limits
  if (options.max_seconds) limits.max_seconds = *options.max_seconds;
  limits.max_iterations = options.iteration_budget;
  switch (options.integrator) {
    case Integrator::euler: {
      ContactStep& step = step_.emplace<ContactStep>(in_, &memories, &out);
      advance_.emplace(model, &step, &models, &memories, &out);
      break;
    }
    case Integrator::event_driven: step_.emplace<EventStep>(in_, &models, &memories, &out); break;
    case Integrator::rk4: step_.emplace<Rk4Step>(in_, &models, &memories, &out); break;
  }
}

const StepReport& Stepper::Workspace::step(mjData* d, int num_steps) noexcept {
  clear_report(out.report);
  limits.begin_call();
  const base::LimitedTask task(&limits, true);
  for (int i = 0; i < num_steps && !out.failed(); ++i) {
    call(d, [&] { step_once(d); });
    if (out.failed() && has_start_) restore(d);
  }
  out.report->time = d->time;
  return *out.report;
}

const StepReport& Stepper::Workspace::advance(mjData* d, const AdvanceOptions& options) noexcept {
  clear_report(out.report);
  limits.begin_call();
  const base::LimitedTask task(&limits, true);
  call(d, [&] { advance_once(d, options); });
  models.update(may_sleep);
  if (out.failed() && has_start_) {
    start_.restore(d);
    memories.read(call_state_, memories.last_data());
  }
  out.report->time = d->time;
  return *out.report;
}

const StepReport& Stepper::Workspace::forward(mjData* d) noexcept {
  // Sensors with a delay and plugins change their part of the state.
  constexpr int kState = mjSTATE_FULLPHYSICS;
  StepReport& report = *out.report;
  const mjData* const last_data = memories.last_data();
  clear_report(&report);
  limits.begin_call();
  const base::LimitedTask task(&limits, true);
  call(d, [&] {
    StepTime time(out.parts.timings);
    check_inputs(d, may_sleep);
    if (out.failed()) return;
    take(d, kState, [&](auto& step) { step.forward(in_, d); });
    models.restore_time_step();
    report.contacts.time_step = in_.time_step();
    if (!out.failed()) read_taxels(d);
    time.finish(&report.timings);
  });
  if (has_start_) {
    restore(d);
    plant::write_solver_outputs(model, d, report.statistics.iterations);
  }
  memories.turn_back_to(last_data);
  report.time = d->time;
  return report;
}

/// Calls work(), which may be stopped by a limit, and fails the step if it ends by an exception.
template <class F>
void Stepper::Workspace::call(mjData* d, F&& work) {
  const double time = d->time;
  out.guard.emplace();
  has_start_ = false;
  try {
    limits.begin_step();
    base::check_limits();
    work();
    input_check.explain(in_, &out);
  } catch (const base::WorkStopped& stopped) {
    fail_unfinished(status_of(stopped.reason), describe_stop(in_, time, stopped.reason));
  } catch (const std::exception& e) {  // out of memory
    fail_unfinished(kMuJoCoError, e.what());
  }
  if (out.failed()) {
    read_taxels(d);
    // The bounds of the steps of the call before this one do not hold for it.
    certificate::Certificate& certificate = out.report->certificate;
    certificate.ok = false;
    if (!(out.report->status & kCertificateFailed))
      certificate.error_bound = certificate.velocity_bound = contact::kInfinity;
  }
  memories.mocap.give_back_poses(d);
  out.guard.reset();
}

/// Fails a step that left its stages by an exception.
void Stepper::Workspace::fail_unfinished(std::uint32_t status, std::string message) {
  out.fail(status, std::move(message));
  clear_arrays(&out.report->contacts);
}

/// Checks the state and the inputs of a step, and reads the values of the model that may change.
/// The step fails if it must not be taken.
void Stepper::Workspace::check_inputs(mjData* d, bool has_sleep) {
  clear_trace(&out.report->trace);
  input_check.check_state(in_, d, &out);
  if (out.failed()) return;
  models.update(has_sleep);
  input_check.check_model(in_, &out);
  if (out.failed()) return;
  try {
    follow_model();
  } catch (const Error& e) {
    out.fail(kModelChanged, std::string(e.what()) + "; the step was not taken");
  }
}

/// Reads the values of the model from which patches are made.
/// @throws Error if this needs a new stepper
void Stepper::Workspace::follow_model() {
  std::visit([this](auto& step) { step.follow_model(in_); }, step_);
}

StepStart Stepper::Workspace::find_start(mjData* d, double duration) {
  memories.turn_to(d);
  StepStart start = memories.find_start(d);
  start.duration = duration;
  start.is_mj_step = in_.contact_model().is_mj_step;
  start.has_sleep = models.has_sleep();
  start.may_have_changed_model = input_check.may_have_changed_model(out);
  return start;
}

void Stepper::Workspace::step_once(mjData* d) {
  StepTime time(out.parts.timings);
  const double start_time = d->time;
  check_inputs(d, may_sleep);
  if (out.failed()) return;
  take(d, mjSTATE_INTEGRATION, [&](auto& step) { step.take(in_, d); });
  StepReport& report = *out.report;
  report.contacts.time_step = in_.time_step();
  if (!out.failed()) read_taxels(d);
  if (has_start_ && !out.failed()) {
    plant::write_solver_outputs(model, d, report.statistics.iterations);
    if (!input_check.check_end(in_, d, start_time, &out)) restore(d);
    warn_of_jumps(in_, d, &out);
    warn_of_rotation(in_, d, &out);
  }
  if (!out.failed()) memories.end(d);
  time.finish(&report.timings);
  if (!out.failed()) ++report.num_steps;
}

/// Keeps the parts `signature` of the state and takes a step. It is taken again if trees woke too
/// late for it, or if mocap bodies that push others where they cannot go have blocked it.
template <class F>
void Stepper::Workspace::take(mjData* d, int signature, F&& work) {
  StepStart start = find_start(d, in_.time_step());
  out.must_retake = false;
  has_start_ = !start.is_mj_step;
  if (has_start_) start_.keep(d, signature);
  memories.begin(start);
  if (const int num_tied = memories.mocap.num_tied(); num_tied > 0)
    out.warn(warnings::kTiedMocap, {}, num_tied);
  const bool may_repeat = in_.mocap.is_any() || start.has_sleep;
  const std::uint32_t status = may_repeat ? std::exchange(out.report->status, kOk) : kOk;
  if (may_repeat) findings_ = *out.report;
  std::visit(work, step_);
  for (start.is_again = true; may_repeat && must_begin_again();) {
    start_.restore(d);
    memories.begin(start);
    std::visit(work, step_);
  }
  if (!out.failed()) {
    warn_of_penetration(in_, &memories.penetration, &out);
    warn_of_limits(in_, d, &memories.limits, &out);
    if (start.time != 0 && has_start_) out.report->missing_memory |= start.lost & memories.used();
  }
  out.report->status |= status;
}

/// True if an attempt must be followed by another one. Removes what the report says of it.
bool Stepper::Workspace::must_begin_again() {
  const bool wakes = std::exchange(out.must_retake, false);
  const bool is_blocked =
      !wakes && (out.report->status & kNotConverged) && memories.mocap.release_blocked();
  if (wakes || is_blocked) withdraw_step(findings_, out.report);
  if (is_blocked) out.warn(warnings::kBlockedMocap);
  return wakes || is_blocked;
}

/// Restores the state and the memories of the start of a step.
void Stepper::Workspace::restore(mjData* d) {
  start_.restore(d);
  memories.restore(d);
}

/// Advances data under error control. The call fails as a whole.
void Stepper::Workspace::advance_once(mjData* d, const AdvanceOptions& options) {
  StepTime time(out.parts.timings);
  check_inputs(d, false);  // sleep counts steps
  if (out.failed()) return;
  models.fix_reference();
  StepStart start = find_start(d, options.until - d->time);
  start.is_call = true;
  out.must_retake = false;
  has_start_ = true;
  start_.keep(d);
  memories.write(&call_state_);
  memories.begin(start);
  advance_->run(in_, d, options);
  if (out.failed()) return;
  read_taxels(d);
  plant::write_solver_outputs(model, d, out.report->statistics.iterations);
  if (!input_check.check_end(in_, d, start.time, &out)) return;
  warn_of_jumps(in_, d, &out);
  const std::uint32_t used = memories.used() | (advance_->lacks_anchors() ? kAnchors : 0u);
  if (start.time != 0) out.report->missing_memory |= (start.lost | kStepLength) & used;
  memories.end_call(d);
  time.finish(&out.report->timings);
}

std::vector<double> Stepper::Workspace::calc_hessian() const {
  if (memories.sleep.num_asleep() > 0)
    throw Error(ErrorCode::kUnsupported, "calc_hessian",
                "the cost of the last step leaves out trees that sleep; remove the flag sleep of "
                "the model, and take a step");
  const auto* step = std::get_if<ContactStep>(&step_);
  const std::vector<double> H = step ? step->calc_hessian() : std::vector<double>();
  const contact::ContactModelTraits& traits = in_.contact_model();
  if (H.empty())
    throw Error(
        ErrorCode::kUnsupported, "calc_hessian",
        traits.is_mj_step
            ? "'" + std::string(traits.name) + "' has no Hessian; use a convex contact model"
            : "there is no Hessian; use a convex contact model, and take a step first");
  return H;
}

/// Makes the sensors of the model and of declared grids.
void Stepper::Workspace::set_taxels(std::span<const plant::TaxelGrid> grids) {
  std::vector<plant::TaxelSensor> sensors = plant::read_tactile_sensors(model);
  for (const plant::TaxelGrid& grid : grids) sensors.push_back(plant::make_taxel_sensor(grid));
  taxels_ = std::make_shared<TaxelReader>(std::move(sensors));
  out.has_taxels = !taxels_->empty();
}

/// Prepares the readings of the taxels of a call. MuJoCo's sensors get theirs, except under
/// MuJoCo's own step, where they keep them.
void Stepper::Workspace::read_taxels(mjData* d) {
  StepReport* const report = out.report;
  taxels_->start(d, &report->started_taxels);
  report->taxel_reader = out.failed() || taxels_->empty() ? nullptr : taxels_;
  if (!out.failed() && has_start_ && taxels_->has_tactile())
    taxels_->write_sensordata(model, report->read_taxels(), d);
}

void Stepper::Workspace::set_state(std::span<const std::uint64_t> state) {
  const auto key = memories.make_key();
  if (state.size() <= key.size() || !std::equal(key.begin(), key.end(), state.begin()))
    throw Error(ErrorCode::kWrongShape, "state",
                "does not belong to a simulator of this model with this contact model and "
                "integrator; take one of Simulator.get_state()");
  follow_model();  // the words of patches belong to the pairs of the present model
  std::vector<std::uint64_t> before;
  memories.write(&before);
  const mjData* const last_data = memories.last_data();
  try {
    memories.read(state);
  } catch (...) {
    memories.read(before, last_data);
    throw;
  }
}

}  // namespace stiction::sim
