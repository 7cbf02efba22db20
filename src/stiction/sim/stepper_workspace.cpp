#include "stiction/sim/stepper_workspace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/base/number_text.hpp"
#include "stiction/plant/model/model_check.hpp"
#include "stiction/plant/model/tied_bodies.hpp"
#include "stiction/plant/mujoco/solver_outputs.hpp"
#include "stiction/sim/advance/advance_settings.hpp"
#include "stiction/sim/report/report_writer.hpp"
#include "stiction/sim/report/warning_table.hpp"
#include "stiction/sim/step/stopwatch.hpp"
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

/// Lets mocap bodies rest to which an active equality or a limited tendon ties others, and warns of
/// it. A slack tendon may get taut within the step.
void rest_held_mocap_bodies(StepContext& context, const mjData* d) {
  const mjModel* m = context.model;
  const auto rest = [&](int body) {
    if (!context.mocap.of_body(m, body)) return;
    context.mocap.rest(m->body_mocapid[m->body_rootid[body]]);
    context.warn(warnings::kTiedMocap);
  };
  for (int i = 0; i < m->neq; ++i)
    if (d->eq_active[i]) plant::for_each_equality_body(m, i, rest);
  for (int i = 0; i < m->ntendon; ++i)
    if (m->tendon_limited[i]) plant::for_each_tendon_body(m, i, rest);
}

}  // namespace

Stepper::Workspace::Workspace(const mjModel* model, const StepOptions& options,
                              plant::MaterialTable materials)
    : context(model, options, std::move(materials)), number_check_(model) {
  set_taxels({});
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

const StepReport& Stepper::Workspace::step(mjData* d, int num_steps) noexcept {
  StepReport& report = context.report;
  clear_report(&report);
  context.limits.begin_call();
  const base::LimitedTask task(&context.limits, true);
  for (int i = 0; i < num_steps && !context.failed(); ++i) {
    call(d, [&] { step_once(d); });
    if (context.failed() && is_state_kept_) restore_state(d, mjSTATE_INTEGRATION);
  }
  report.time = d->time;
  return report;
}

const StepReport& Stepper::Workspace::advance(mjData* d, const AdvanceOptions& options) noexcept {
  StepReport& report = context.report;
  clear_report(&report);
  context.limits.begin_call();
  const base::LimitedTask task(&context.limits, true);
  call(d, [&] { advance_once(d, options); });
  if (context.failed() && is_state_kept_) restore_call(d);
  report.time = d->time;
  return report;
}

const StepReport& Stepper::Workspace::forward(mjData* d) noexcept {
  // Sensors with a delay and plugins change their part of the state.
  constexpr int kState = mjSTATE_FULLPHYSICS;
  StepReport& report = context.report;
  clear_report(&report);
  context.limits.begin_call();
  const base::LimitedTask task(&context.limits, true);
  call(d, [&] {
    StepTime time(context.report_parts.timings);
    begin(d);
    if (context.failed()) return;
    solve_with_mocap(d, kState, [&](auto& step) { step.forward(context, d); });
    context.update();
    report.contacts.time_step = context.mirror.opt.timestep;
    if (!context.failed()) read_taxels(d);
    time.finish(&report.timings);
  });
  if (is_state_kept_) {
    restore_state(d, kState);
    plant::write_solver_outputs(context.model, d, report.statistics.iterations);
  }
  report.time = d->time;
  return report;
}

/// Calls work(), which may be stopped by a limit, and fails the step if it ends by an exception.
template <class F>
void Stepper::Workspace::call(mjData* d, F&& work) {
  const double time = d->time;
  is_state_kept_ = false;
  try {
    context.limits.begin_step();
    base::check_limits();
    work();
    explain();
  } catch (const base::WorkStopped& stopped) {
    fail_unfinished(status_of(stopped.reason), describe_stop(context, time, stopped.reason));
  } catch (const std::exception& e) {  // out of memory
    fail_unfinished(kMuJoCoError, e.what());
  }
  if (context.failed()) withdraw_certificate();
  restore_given_poses(d);
}

std::vector<double> Stepper::Workspace::calc_hessian() const {
  if (context.sleep.num_asleep() > 0)
    throw Error(ErrorCode::kUnsupported, "calc_hessian",
                "the cost of the last step leaves out trees that sleep; remove the flag sleep of "
                "the model, and take a step");
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

/// Removes the bounds of a step that failed before it had a certificate. Those of the steps of the
/// call before it do not hold for it.
void Stepper::Workspace::withdraw_certificate() {
  certificate::Certificate& certificate = context.report.certificate;
  certificate.ok = false;
  if (!(context.report.status & kCertificateFailed))
    certificate.error_bound = certificate.velocity_bound = contact::kInfinity;
}

/// Fails a step that left its stages by an exception.
void Stepper::Workspace::fail_unfinished(std::uint32_t status, std::string message) {
  context.fail(status, std::move(message));
  clear_arrays(&context.report.contacts);
  context.update();
}

/// Keeps the parts `signature` of the state and takes a step with the motion of mocap bodies. A
/// mocap body that pushes others where they cannot go gives way, and the step is taken again.
template <class F>
void Stepper::Workspace::solve_with_mocap(mjData* d, int signature, F&& take) {
  keep_state(d, signature);
  context.penetration.start(context.model, d);
  const std::uint32_t lost = find_lost_memory(d);
  const auto forget = [lost](auto& step) {
    if (lost & kActiveSet) step.forget_active_set();
  };
  const std::uint32_t missing = d->time != 0 ? lost : 0;
  std::visit(forget, step_);
  start_mocap(d, context.mirror.opt.timestep);
  start_sleep(d);
  start_memories(d);
  StepReport& report = context.report;
  const bool may_jam = context.mocap.is_any();
  const bool may_repeat = may_jam || context.has_sleep();
  const std::uint32_t status = may_repeat ? std::exchange(report.status, kOk) : kOk;
  if (may_repeat) findings_ = report;
  std::visit(take, step_);
  while (begins_again() || (may_jam && (report.status & kNotConverged) && give_way())) {
    restore_data(d, signature);
    std::visit(forget, step_);
    context.mocap.place_at_start(context.model, d);
    context.penetration.start(context.model, d);
    start_memories(d);
    std::visit(take, step_);
  }
  if (!context.failed()) {
    warn_of_penetration(context);
    warn_of_limits(context, d);
    report.missing_memory |= missing & find_memory_used();
  }
  report.status |= status;
}

void Stepper::Workspace::start_sleep(mjData* d) {
  if (!is_state_kept_) return;
  const bool goes_on = (!last_data_ || last_data_ == d) && d->time == last_time_;
  context.sleep.start(context.model, d,
                      {.is_on = context.has_sleep(),
                       .goes_on = goes_on,
                       .may_have_changed_model = may_have_changed_model()},
                      context.mocap, &context.plant);
}

/// Starts what is remembered of the last step. Call PenetrationMemory::start first.
void Stepper::Workspace::start_memories(const mjData* d) {
  context.limit_memory.start(context.model, d, context.penetration.goes_on());
  context.lagged_impulses.start(context.penetration.goes_on());
  if (has_anchors(context.options.parameters)) context.anchors.start(context.model, d);
}

/// Finds the motion of mocap bodies in a step of this duration [s], and sets their poses to those
/// at the start of the step.
void Stepper::Workspace::start_mocap(mjData* d, double duration) {
  if (!is_state_kept_) return;
  const mjModel* m = context.model;
  context.mocap.start(m, d, duration, !last_data_ || last_data_ == d);
  // Under `rk4` equalities and limits must hold at the end of a step, but others are not corrected.
  if (context.options.integrator == Integrator::rk4) rest_held_mocap_bodies(context, d);
  if (!context.mocap.is_between()) return;
  keep_given_poses(d);
  context.mocap.place_at_start(m, d);
}

/// Keeps the caller's mocap poses for restore_given_poses.
void Stepper::Workspace::keep_given_poses(const mjData* d) {
  const mjModel* m = context.model;
  given_poses_.assign(d->mocap_pos, d->mocap_pos + 3 * m->nmocap);
  given_poses_.insert(given_poses_.end(), d->mocap_quat, d->mocap_quat + 4 * m->nmocap);
}

/// Sets the caller's mocap poses, if those of data are others.
void Stepper::Workspace::restore_given_poses(mjData* d) {
  if (given_poses_.empty()) return;
  const auto quats = given_poses_.begin() + 3 * context.model->nmocap;
  std::copy(given_poses_.begin(), quats, d->mocap_pos);
  std::copy(quats, given_poses_.end(), d->mocap_quat);
  given_poses_.clear();
}

/// Removes what the report says of a step in which trees woke too late.
/// @return false if there were none
bool Stepper::Workspace::begins_again() {
  if (!std::exchange(context.must_retake, false)) return false;
  withdraw_step(findings_, &context.report);
  return true;
}

/// Lets mocap bodies that jam give way, and removes what the report says of the failed attempt.
/// @return false if there are none
bool Stepper::Workspace::give_way() {
  // The other integrators move mocap bodies within a step.
  const bool may_yield = context.options.integrator == Integrator::euler;
  if (!context.mocap_jams.give_way(may_yield, &context.mocap)) return false;
  withdraw_step(findings_, &context.report);
  context.warn(warnings::kBlockedMocap);
  return true;
}

/// Makes the sensors of the model and of declared grids.
void Stepper::Workspace::set_taxels(std::span<const plant::TaxelGrid> grids) {
  std::vector<plant::TaxelSensor> sensors = plant::read_tactile_sensors(context.model);
  for (const plant::TaxelGrid& grid : grids) sensors.push_back(plant::make_taxel_sensor(grid));
  context.taxels = TaxelReader(std::move(sensors));
}

/// Reads the taxels of a solved step. MuJoCo's sensors keep their readings under MuJoCo's own step.
void Stepper::Workspace::read_taxels(mjData* d) {
  if (context.taxels.empty()) {
    if (context.report.taxels.size() > 0) context.report.taxels = {};  // of an earlier stepper
    return;
  }
  context.taxels.read(d, &context.report);
  if (!contact::traits(context.options.contact_model).is_mj_step)
    context.taxels.write_sensordata(context.model, context.report.taxels, d);
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
                  fault.array, fault.index, base::to_text(fault.value).c_str(),
                  base::to_text(d->time).c_str());
    return context.fail(fault.is_state ? kNonFiniteState : kNonFiniteInput, text);
  }
  context.update();
  // The caller may have changed the time step since the model was checked.
  const double dt = context.mirror.opt.timestep;
  if (!(dt > 0 && std::isfinite(dt)))
    return context.fail(
        kNonFiniteInput,
        "the model's timestep is " + base::to_text(dt) +
            ", must be finite and above 0; correct model.opt.timestep; the step was not "
            "taken");
  check_numbers();
  if (!context.failed()) follow_model();
}

/// Reads the values of the model from which patches are made, or fails the step if this needs a new
/// stepper.
void Stepper::Workspace::follow_model() {
  try {
    std::visit([this](auto& step) { step.follow_model(context.model, context.options); }, step_);
  } catch (const Error& e) {
    context.fail(kModelChanged, std::string(e.what()) + "; the step was not taken");
  }
}

/// True if the model may have other values than in the last step. Only callbacks can change it
/// within a call of step, after its first step, and if the model is known to stay.
bool Stepper::Workspace::may_have_changed_model() const {
  const bool has_callback = mjcb_control || mjcb_passive || mjcb_contactfilter || mjcb_sensor ||
                            mjcb_act_dyn || mjcb_act_gain || mjcb_act_bias;
  return (!model_stays && context.report.num_steps == 0) || has_callback;
}

/// Fails the step if the caller has made a number of the model invalid.
void Stepper::Workspace::check_numbers() {
  if (!may_have_changed_model()) return;
  if (!number_check_.all_in_range())
    context.fail(kNonFiniteInput, plant::find_fault(context.model) + "; the step was not taken");
}

void Stepper::Workspace::step_once(mjData* d) {
  StepTime time(context.report_parts.timings);
  begin(d);
  if (context.failed()) return;
  solve_with_mocap(d, mjSTATE_INTEGRATION, [&](auto& step) { step.take(context, d); });
  context.report.contacts.time_step = context.mirror.opt.timestep;
  if (!context.failed()) read_taxels(d);
  if (!state_.empty() && !context.failed()) {
    plant::write_solver_outputs(context.model, d, context.report.statistics.iterations);
    check_end(d);
    warn_of_jumps(context, d);
    warn_of_rotation(context, d);
  }
  if (!context.failed()) {
    context.penetration.finish(context.model, d);
    context.lagged_impulses.finish();
    if (has_anchors(context.options.parameters)) context.anchors.finish(context.model, d);
    context.limit_memory.finish();
    last_data_ = d;
    last_time_ = d->time;
  }
  time.finish(&context.report.timings);
  if (!context.failed()) ++context.report.num_steps;
}

/// Advances data under error control. The call fails as a whole.
void Stepper::Workspace::advance_once(mjData* d, const AdvanceOptions& options) {
  StepTime time(context.report_parts.timings);
  AdvanceSettings settings(context);
  begin(d);
  if (context.failed()) return;
  settings.fix_reference();
  get_state(&call_memory_);
  keep_state(d, mjSTATE_INTEGRATION);
  context.penetration.start(context.model, d);
  std::uint32_t missing = find_lost_memory(d);
  if (!advance_.memory.fits(context.model, d)) missing |= kStepLength;
  keep_given_poses(d);  // each part of the call has poses of its own
  start_mocap(d, options.until - d->time);
  start_sleep(d);
  start_memories(d);
  ContactStep& step = std::get<ContactStep>(step_);
  if (missing & kActiveSet) step.forget_active_set();
  const bool is_begun = d->time == 0;
  advance_.run(context, settings, step, d, options);
  if (context.failed()) return;
  read_taxels(d);
  plant::write_solver_outputs(context.model, d, context.report.statistics.iterations);
  check_end(d);
  if (context.failed()) return;
  warn_of_jumps(context, d);
  const std::uint32_t of_first_step = kStepLength | (advance_.begins_anchors() ? kAnchors : 0u);
  if (!is_begun) context.report.missing_memory |= missing & (find_memory_used() | of_first_step);
  context.limit_memory.finish();
  last_data_ = d;
  last_time_ = d->time;
  time.finish(&context.report.timings);
}

/// Fails a step that ends with a state from which the next step could not start.
void Stepper::Workspace::check_end(mjData* d) {
  const plant::StateFault fault = plant::check_state(context.model, d);
  if (!fault.array || !fault.is_state) return;
  restore_state(d, mjSTATE_INTEGRATION);
  char text[200];
  std::snprintf(text, sizeof text,
                "%s[%d] would be %s at the end of the step from time %s, because the motion is too "
                "fast for the time step; use a smaller one",
                fault.array, fault.index, base::to_text(fault.value).c_str(),
                base::to_text(d->time).c_str());
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

}  // namespace stiction::sim
