#include "stiction/sim/stepper.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <utility>
#include <variant>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"
#include "stiction/base/number_text.hpp"
#include "stiction/plant/model_check.hpp"
#include "stiction/plant/number_check.hpp"
#include "stiction/plant/solver_outputs.hpp"
#include "stiction/plant/tied_bodies.hpp"
#include "stiction/sim/advance.hpp"
#include "stiction/sim/advance_check.hpp"
#include "stiction/sim/advance_settings.hpp"
#include "stiction/sim/contact_step.hpp"
#include "stiction/sim/dry_friction_check.hpp"
#include "stiction/sim/event_step.hpp"
#include "stiction/sim/failure_text.hpp"
#include "stiction/sim/ignored_settings.hpp"
#include "stiction/sim/limit_warning.hpp"
#include "stiction/sim/mocap_warning.hpp"
#include "stiction/sim/mujoco_step.hpp"
#include "stiction/sim/penetration_warning.hpp"
#include "stiction/sim/report_findings.hpp"
#include "stiction/sim/report_writer.hpp"
#include "stiction/sim/rk4_step.hpp"
#include "stiction/sim/rotation_warning.hpp"
#include "stiction/sim/stopwatch.hpp"

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
    context.report.warn(
        WarningKind::conflict,
        "a connect, weld or tendon ties a body to a moving mocap body, but 'rk4' does not correct "
        "equalities and limits, so the body does not follow; choose the integrator 'euler' or "
        "'event_driven'");
  };
  for (int i = 0; i < m->neq; ++i)
    if (d->eq_active[i]) plant::for_each_equality_body(m, i, rest);
  for (int i = 0; i < m->ntendon; ++i)
    if (m->tendon_limited[i]) plant::for_each_tendon_body(m, i, rest);
}

}  // namespace

class Stepper::Workspace {
 public:
  Workspace(const mjModel* model, const StepOptions& options, plant::MaterialTable materials)
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

  const StepReport& step(mjData* d, int num_steps) noexcept;
  const StepReport& advance(mjData* d, const AdvanceOptions& options) noexcept;
  const StepReport& forward(mjData* d) noexcept;
  std::vector<double> calc_hessian() const;
  void set_taxels(std::span<const plant::TaxelGrid> grids);

  std::vector<std::uint64_t> save_anchors() const;
  std::vector<AnchorReport> list_anchors() const;
  void load_anchors(const mjData* d, std::span<const std::uint64_t> words);
  void forget_anchors();

  void get_state(std::vector<std::uint64_t>* state) const;
  void set_state(std::span<const std::uint64_t> state);
  void resume(std::span<const std::uint64_t> state);

  StepContext context;
  bool model_stays = false;

 private:
  void begin(mjData* d);
  bool may_have_changed_model() const;
  void check_numbers();
  void follow_model();
  void step_once(mjData* d);
  void advance_once(mjData* d, const AdvanceOptions& options);
  void restore_call(mjData* d);
  template <class F>
  void call(mjData* d, F&& work);
  void keep_state(const mjData* d, int signature);
  template <class F>
  void solve_with_mocap(mjData* d, int signature, F&& take);
  void start_sleep(mjData* d);
  void start_memories(const mjData* d);
  void start_mocap(mjData* d, double duration);
  void read_taxels(mjData* d);
  void keep_given_poses(const mjData* d);
  void restore_given_poses(mjData* d);
  bool begins_again();
  bool give_way();
  void restore_data(mjData* d, int signature);
  void restore_state(mjData* d, int signature);
  void check_end(mjData* d);
  void explain();
  void fail_unfinished(std::uint32_t status, std::string message);
  void withdraw_certificate();
  void require_anchors(const char* function) const;
  void write_memory(std::vector<std::uint64_t>* words) const;
  void read_memory(std::span<const std::uint64_t> words);
  void restore_memory(std::span<const std::uint64_t> words);
  std::array<std::uint64_t, 4> make_state_key() const;
  std::uint32_t find_lost_memory(const mjData* d) const;
  std::uint32_t find_memory_used() const;

  std::variant<MuJoCoStep, ContactStep, EventStep, Rk4Step> step_;
  Advance advance_;
  // What the stepper remembered before a call of advance.
  std::vector<std::uint64_t> call_memory_;
  // The state and the memory at the start of the step. state_ is empty for MuJoCoStep, which keeps
  // its own.
  std::vector<mjtNum> state_;
  std::vector<std::uint64_t> memory_;
  plant::MocapMotion mocap_;
  std::vector<mjtNum> given_poses_;  // of mocap bodies, if data has others within the step
  ReportFindings findings_;          // before the step
  plant::NumberCheck number_check_;
  bool is_state_kept_ = false;
  const mjData* last_data_ = nullptr;  // of the last step; null: the next step goes on with it
  // The time at which the last step ended [s]; NaN: there was none.
  double last_time_ = std::numeric_limits<double>::quiet_NaN();
};

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
  clear_contacts(&context.report.contacts);
  context.update();
}

/// Keeps the memory and the parts `signature` of the state.
void Stepper::Workspace::keep_state(const mjData* d, int signature) {
  context.must_retake = false;
  if (state_.empty()) return;
  mj_getState(context.model, d, state_.data(), signature);
  memory_.clear();
  write_memory(&memory_);
  mocap_ = context.mocap;
  is_state_kept_ = true;
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
  if (may_repeat) findings_.read(report);
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

/// Returns the bits of MemoryKind that do not belong to a step from this state, because it does not
/// go on where the last one ended. The caller may have changed positions and velocities in between.
/// A copy of the data goes on with the active set, which depends on the state alone. Call
/// PenetrationMemory::start first.
std::uint32_t Stepper::Workspace::find_lost_memory(const mjData* d) const {
  constexpr std::uint32_t kHistory = kPatchHistory | kMocapMotion | kWarnings;
  if (d->time != last_time_) return kActiveSet | kContactForces | kAnchors | kHistory;
  const bool goes_on = context.penetration.goes_on();
  const std::uint32_t forces = goes_on ? 0u : std::uint32_t{kContactForces | kAnchors};
  if (!last_data_ || last_data_ == d) return forces;
  return goes_on ? kHistory : kActiveSet | kHistory | forces;
}

/// Returns the bits of MemoryKind that a step takes from the one before. Call it after the step.
std::uint32_t Stepper::Workspace::find_memory_used() const {
  if (contact::traits(context.options.contact_model).is_mj_step) return 0;
  const bool has_warnings = context.penetration.is_any() || context.limit_memory.is_any();
  std::uint32_t used = std::visit([](const auto& step) { return step.find_memory_used(); }, step_);
  if (context.model->nmocap > 0) used |= kMocapMotion;
  if (has_warnings) used |= kWarnings;
  if (context.lagged_impulses.is_any()) used |= kContactForces;
  if (context.anchors.is_any() && !context.anchors.go_on()) used |= kAnchors;
  return used;
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
  findings_.write(&context.report);
  return true;
}

/// Lets mocap bodies that jam give way, and removes what the report says of the failed attempt.
/// @return false if there are none
bool Stepper::Workspace::give_way() {
  // The other integrators move mocap bodies within a step.
  const bool may_yield = context.options.integrator == Integrator::euler;
  if (!context.mocap_jams.give_way(may_yield, &context.mocap)) return false;
  findings_.write(&context.report);
  context.report.warn(
      WarningKind::conflict,
      "a mocap body pushes or pulls others where they cannot go, so in this step it closes no "
      "contact, or has no velocity at all, and may pass into them; move it back, or use a "
      "compliant contact model");
  return true;
}

void Stepper::Workspace::restore_state(mjData* d, int signature) {
  context.mocap = mocap_;
  restore_data(d, signature);
  context.sleep.restore(context.model, d, &context.plant);
}

/// Restores the state and what the step remembers, except the velocities of mocap bodies.
void Stepper::Workspace::restore_data(mjData* d, int signature) {
  mj_setState(context.model, d, state_.data(), signature);
  restore_memory(memory_);
}

/// Reads words that write_memory has written, so that it cannot fail.
void Stepper::Workspace::restore_memory(std::span<const std::uint64_t> words) {
  [[maybe_unused]] bool is_read = true;
  try {
    read_memory(words);
  } catch (const std::exception&) {
    is_read = false;
  }
  STICTION_ASSERT(is_read);
}

void Stepper::Workspace::write_memory(std::vector<std::uint64_t>* words) const {
  std::visit([words](const auto& step) { step.write_memory(words); }, step_);
}

/// @throws Error if the words are not those of write_memory
void Stepper::Workspace::read_memory(std::span<const std::uint64_t> words) {
  std::visit([&words](auto& step) { step.read_memory(&words); }, step_);
  if (!words.empty())
    throw Error(ErrorCode::kWrongShape, "state",
                "has more numbers than a simulator of this model has");
}

/// Returns the numbers with which a state begins: they identify the format, the contact model, the
/// integrator and the sizes of the model. Copies of a model have equal sizes; MuJoCo's signature is
/// lost in its binary format.
std::array<std::uint64_t, 4> Stepper::Workspace::make_state_key() const {
  constexpr std::uint64_t kFormat = 0x535449435354000c;  // "STICST", version 12
  constexpr int kAnchorsBit = 1 << 8;                    // the state has anchors
  const auto join = [](auto a, auto b) {
    return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
  };
  const mjModel* m = context.model;
  return {kFormat,
          join(static_cast<int>(context.options.contact_model),
               static_cast<int>(context.options.integrator) |
                   (has_anchors(context.options.parameters) ? kAnchorsBit : 0)),
          join(m->nq, m->nv), join(m->nbody, m->ngeom)};
}

void Stepper::Workspace::get_state(std::vector<std::uint64_t>* state) const {
  const auto key = make_state_key();
  state->assign(key.begin(), key.end());
  state->push_back(std::bit_cast<std::uint64_t>(last_time_));
  context.mocap.write_memory(context.model, state);
  context.penetration.write_memory(state);
  context.lagged_impulses.write_memory(state);
  if (has_anchors(context.options.parameters)) context.anchors.write_memory(state);
  context.limit_memory.write_memory(state);
  context.sleep.write_memory(state);
  advance_.memory.write_memory(state);
  write_memory(state);
}

void Stepper::Workspace::set_state(std::span<const std::uint64_t> state) {
  const auto key = make_state_key();
  if (state.size() <= key.size() || !std::equal(key.begin(), key.end(), state.begin()))
    throw Error(ErrorCode::kWrongShape, "state",
                "does not belong to a simulator of this model with this contact model and "
                "integrator; take one of Simulator.get_state()");
  // The words of patches belong to the pairs of the present model.
  std::visit([this](auto& step) { step.follow_model(context.model, context.options); }, step_);
  std::vector<std::uint64_t> before;
  get_state(&before);
  const mjData* const last_data = last_data_;
  try {
    resume(state);
  } catch (...) {
    resume(before);
    last_data_ = last_data;
    throw;
  }
}

/// Reads the words of get_state.
/// @throws Error if they are not; the memory is then undefined
void Stepper::Workspace::resume(std::span<const std::uint64_t> state) {
  const std::size_t key_size = make_state_key().size();
  STICTION_ASSERT(state.size() > key_size);
  last_data_ = nullptr;
  last_time_ = std::bit_cast<double>(state[key_size]);
  std::span<const std::uint64_t> words = state.subspan(key_size + 1);
  context.mocap.read_memory(context.model, &words);
  context.penetration.read_memory(context.model, &words);
  context.lagged_impulses.read_memory(context.model, &words);
  if (has_anchors(context.options.parameters)) context.anchors.read_memory(context.model, &words);
  context.limit_memory.read_memory(context.model, &words);
  context.sleep.read_memory(context.model, &words);
  advance_.memory.read_memory(&words);
  read_memory(words);
}

/// @throws Error if the friction law has no anchors
void Stepper::Workspace::require_anchors(const char* function) const {
  if (!has_anchors(context.options.parameters))
    throw Error(ErrorCode::kUnsupported, function,
                "needs the friction law 'elastic', but the friction law is '" +
                    std::string(name_of(context.options.parameters.friction_law)) + "'");
}

std::vector<std::uint64_t> Stepper::Workspace::save_anchors() const {
  require_anchors("save_anchors");
  const auto key = make_state_key();
  std::vector<std::uint64_t> words(key.begin(), key.end());
  context.anchors.write_memory(&words);
  return words;
}

std::vector<AnchorReport> Stepper::Workspace::list_anchors() const {
  require_anchors("list_anchors");
  return sim::list_anchors(context.anchors.memory().step);
}

void Stepper::Workspace::load_anchors(const mjData* d, std::span<const std::uint64_t> words) {
  require_anchors("load_anchors");
  const auto key = make_state_key();
  if (words.size() <= key.size() || !std::equal(key.begin(), key.end(), words.begin()))
    throw Error(ErrorCode::kWrongShape, "anchors",
                "do not belong to a simulator of this model with this contact model and "
                "integrator; take those of Simulator.save_anchors()");
  Anchors anchors;
  std::span<const std::uint64_t> rest = words.subspan(key.size());
  anchors.read_memory(context.model, &rest);
  if (!rest.empty())
    throw Error(ErrorCode::kWrongShape, "anchors", "have more numbers than they need");
  if (!anchors.belong_to(context.model, d))
    throw Error(ErrorCode::kInvalidValue, "anchors",
                "are those of another time or other positions than data has; restore the state at "
                "which they were saved, or call forget_anchors to begin without stretches");
  context.anchors = std::move(anchors);
}

void Stepper::Workspace::forget_anchors() {
  require_anchors("forget_anchors");
  context.anchors.forget();
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

/// Restores the state and the memory before a call of advance that failed.
void Stepper::Workspace::restore_call(mjData* d) {
  const mjData* const last_data = last_data_;
  mj_setState(context.model, d, state_.data(), mjSTATE_INTEGRATION);
  context.update();
  try {
    resume(call_memory_);  // words of get_state, so it cannot fail
  } catch (const std::exception&) {
    STICTION_ASSERT(false);
  }
  last_data_ = last_data;
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
