#include "stiction/sim/advance/advance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "stiction/base/number_text.hpp"
#include "stiction/plant/forces/actuator_input.hpp"
#include "stiction/sim/advance/advance_plugins.hpp"
#include "stiction/sim/report/report_writer.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"

namespace stiction::sim {
namespace {

/// The failures after which a shorter step may succeed.
constexpr std::uint32_t kMayRetry =
    kNotConverged | kCertificateFailed | kNonFiniteSolution | kNotPositiveDefinite;

/// The error from which on a step of the least length fails, relative to the accuracy.
constexpr double kTooInaccurate = 100;

bool is_least_step(double h) { return h <= AdvanceControl::kLeastStep * (1 + 1e-9); }

}  // namespace

void Advance::run(StepContext& context, AdvanceSettings& settings, ContactStep& step, mjData* d,
                  const AdvanceOptions& options) {
  context_ = &context;
  settings_ = &settings;
  step_ = &step;
  start(context, d, options);
  while (d->time < options.until && !context.failed()) take_step(d);
  if (!context.failed()) finish(context, step, d);
  // The caller's objects may end before the next call.
  context_ = nullptr;
  settings_ = nullptr;
  step_ = nullptr;
}

void Advance::start(StepContext& context, const mjData* d, const AdvanceOptions& options) {
  const mjModel* m = context.model;
  options_ = options;
  const bool goes_on = memory.fits(m, d);
  control_.start(
      options.first_step.value_or(goes_on ? memory.next_step() : AdvanceControl::kFirstStep),
      options.last_error.value_or(goes_on ? memory.last_error() : 1));
  norm_.start(m);  // the caller may have changed sizes
  has_sensors_ = AdvanceAverages::has_sensors(m);
  shares_forces_ = !has_force_plugins(m);
  if (!std::exchange(told_of_plugins_, true)) warn_of_plugin_state(context);
  has_anchors_ = has_anchors(context.options.parameters);
  begins_anchors_ = false;
  num_anchors_lost_ = num_anchors_forgotten_ = 0;
  averages_.start(m, d);
  sums_ = {};
  sums_.num_parts = 0;
  timings_ = {};
  state_.resize(mj_stateSize(m, mjSTATE_INTEGRATION));
  AdvanceReport& report = context.report.advance;
  report.until = options.until;
  report.accuracy = options.accuracy;
  report.first_step = control_.next_step();
  report.first_error = control_.last_error();
  report.next_step = control_.next_step();
  report.last_error = control_.last_error();
}

/// Keeps what an attempt changes.
void Advance::keep_start(const mjData* d) {
  const mjModel* m = context_->model;
  mj_getState(m, d, state_.data(), mjSTATE_INTEGRATION);
  words_.clear();
  step_->write_memory(&words_);
  lagged_impulses_ = context_->lagged_impulses;
  if (has_anchors_) anchors_ = context_->anchors.memory();
  findings_ = context_->report;
  start_qvel_.assign(d->qvel, d->qvel + m->nv);
  start_memories(d);
  has_geometry_ = false;
}

void Advance::restore_start(mjData* d) {
  mj_setState(context_->model, d, state_.data(), mjSTATE_INTEGRATION);
  std::span<const std::uint64_t> words = words_;
  step_->read_memory(&words);
  context_->lagged_impulses = lagged_impulses_;
  if (has_anchors_) context_->anchors.set_memory(anchors_);
  withdraw_step(findings_, &context_->report);
  start_memories(d);
}

void Advance::start_memories(const mjData* d) {
  const mjModel* m = context_->model;
  context_->penetration.start(m, d);
  context_->lagged_impulses.start(context_->penetration.goes_on());
  if (has_anchors_) context_->anchors.start(m, d);
}

/// Takes one step, with as many attempts as it needs.
void Advance::take_step(mjData* d) {
  StepContext& context = *context_;
  keep_start(d);
  const std::uint32_t status = std::exchange(context.report.status, kOk);
  for (;;) {
    const double left = options_.until - d->time;
    const double h = control_.choose(left, options_.max_time_step.value_or(left));
    is_last_ = h == left;
    if (!is_last_ && !check_time(h, d)) break;
    const Attempt result = attempt(h, d);
    if (result == Attempt::kFatal || end_attempt(result, h, d)) break;
    ++context.report.advance.num_rejected;
    // A failure of the first solve leaves the geometry as it was.
    if (has_geometry_)
      withdraw_step(findings_, &context.report);
    else
      restore_start(d);
  }
  context.report.status |= status;
}

/// Fails the call if a half step does not advance the time, so that the call would not end.
/// @return false if it failed
bool Advance::check_time(double h, const mjData* d) {
  if (d->time + 0.5 * h > d->time) return true;
  const double spacing = std::nextafter(d->time, options_.until) - d->time;
  context_->fail(kInaccurate, "half a step of " + base::to_text(h) +
                                  " s does not advance the time, because doubles near " +
                                  base::to_text(d->time) + " s are " + base::to_text(spacing) +
                                  " s apart; set data.time back to begin at an earlier time");
  return false;
}

/// Accepts a step, or chooses the length of the next attempt.
/// @return false if another attempt is needed
bool Advance::end_attempt(Attempt attempt, double h, mjData* d) {
  StepContext& context = *context_;
  AdvanceReport& report = context.report.advance;
  const bool is_least = is_least_step(h);
  if (attempt == Attempt::kUnsolved) {
    ++report.num_failed;
    if (!is_least) {
      control_.fail(h);
      return false;
    }
    if (context.failed()) return true;
  }
  const double error = error_ / options_.accuracy;
  // The test also rejects an error that is NaN.
  const bool is_small = error <= 1;
  // An error below the one that the solver may have made proves nothing.
  const bool is_accurate = is_small && !tighten_if_needed(h);
  if (!is_accurate && !is_least) {
    control_.reject(h, is_small ? 1 : error);
    return false;
  }
  if (!is_accurate) {
    ++report.num_inaccurate;
    if (!std::isfinite(error)) {
      context.fail(kNonFiniteSolution, "the state is not finite after a step of " +
                                           base::to_text(h) + " s from time " +
                                           base::to_text(d->time));
      return true;
    }
    if (error > kTooInaccurate && context.options.on_failure != OnFailure::keep_best) {
      context.fail(kInaccurate, "the error of the least step, " + base::to_text(h) + " s, is " +
                                    base::to_text(error_) + " m, and the accuracy is " +
                                    base::to_text(options_.accuracy) +
                                    " m: velocities change too fast at time " +
                                    base::to_text(d->time) +
                                    "; choose a larger accuracy, or keep_best for on_failure");
      return true;
    }
  }
  accept(h, d);
  return true;
}

/// Makes the solver more accurate if its error may be a part of that of the step.
/// @return true if the step must be taken again
bool Advance::tighten_if_needed(double h) {
  const double error = h * velocity_bound_;
  if (!std::isfinite(error) || error <= 0.1 * options_.accuracy) return false;
  (void)settings_->tighten();
  return error > options_.accuracy;
}

/// Takes a step of h and two of h/2 from the state of data.
Advance::Attempt Advance::attempt(double h, mjData* d) {
  const mjModel* m = context_->model;
  velocity_bound_ = 0;
  error_ = std::numeric_limits<double>::quiet_NaN();
  extrapolation_.start(m);
  const bool is_full_solved = take_full(h, d);
  bool is_solved = is_full_solved;
  if (is_solved) {
    guess_.resize(m->nv);
    for (int i = 0; i < m->nv; ++i) guess_[i] = 0.5 * (start_qvel_[i] + full_qvel_[i]);
    is_solved = take_half(0, 0.5 * h, guess_, d) && take_half(1, 0.5 * h, full_qvel_, d);
  }
  has_geometry_ = shares_forces_ && !is_full_solved && context_->report.status != kOk;
  if (is_solved) measure(d);
  if (is_solved && context_->report.status == kOk) return Attempt::kSolved;
  const bool may_retry = (context_->report.status & ~kMayRetry) == 0;
  return may_retry ? Attempt::kUnsolved : Attempt::kFatal;
}

/// Solves a part of the step and adds its work to the sums.
bool Advance::solve(mjData* d, const StepPart& part) {
  StepContext& context = *context_;
  const bool is_solved = step_->find_velocities(context, d, part);
  add_statistics(context.report.statistics, &sums_);
  add_timings(context.report.timings, &timings_);
  if (!is_solved) return false;
  velocity_bound_ = std::max(velocity_bound_, step_->velocity_bound());
  extrapolation_.join(context.model, context.plant, step_->contacts().islands);
  return true;
}

AdvancePattern::Problem Advance::pattern_of(const mjData* d, const ContactReport& contacts) const {
  return {context_->model, d, context_->plant, step_->contacts().problem, contacts};
}

/// Finds x_f, the state after a step of h, without a change of data.
bool Advance::take_full(double h, mjData* d) {
  StepContext& context = *context_;
  const mjModel* m = context.model;
  settings_->set_time_step(h);
  context.mocap.place(m, d, d->time);
  if (!solve(d, {.is_trial = true,
                 .has_certificate = options_.extrapolate,  // else x_f is no part of the result
                 .keeps_geometry = has_geometry_}))
    return false;
  const ContactPipeline& contacts = step_->contacts();
  write_contacts(m, d, contacts.problem, contacts.solution, &full_contacts_);
  const AdvancePattern::Problem pattern = pattern_of(d, full_contacts_);
  start_pattern_.read_start(pattern);
  full_pattern_.read(pattern, contacts.solution);
  full_qvel_.assign(start_qvel_.begin(), start_qvel_.end());
  step_->copy_velocities(context, d, full_qvel_.data());
  full_qpos_.assign(d->qpos, d->qpos + m->nq);
  mj_integratePos(m, full_qpos_.data(), full_qvel_.data(), h);
  full_act_.assign(d->act, d->act + m->na);
  for (int a = 0; a < m->nactuator; ++a)
    for (int i = m->actuator_actadr[a]; i < m->actuator_actadr[a] + m->actuator_actnum[a]; ++i)
      full_act_[i] = plant::calc_next_activation(context.stage, d, a, i);
  return true;
}

/// Takes a half step and integrates it in data.
/// @param guess velocities from which the solver starts
bool Advance::take_half(int half, double h, std::span<const double> guess, mjData* d) {
  StepContext& context = *context_;
  const mjModel* m = context.model;
  settings_->set_time_step(h);
  if (half == 1) {
    context.lagged_impulses.finish();
    context.lagged_impulses.start(true);
    if (has_anchors_) {
      context.anchors.finish(m, d);
      context.anchors.start(m, d);
    }
    context.mocap.place(m, d, d->time);
  }
  if (!solve(d, {.keeps_geometry = half == 0 && shares_forces_, .guess = guess})) return false;
  half_anchors_[half] = context.report.anchors;
  if (half == 0 && context.report.advance.num_steps == 0)
    begins_anchors_ = context.anchors.is_any() && !context.anchors.go_on();
  if (has_sensors_) ContactStep::sense(context, d);
  half_patterns_[half].read(pattern_of(d, context.report.contacts), step_->contacts().solution);
  AdvanceAverages::read(m, d, context.report.contacts, h, &halves_[half]);
  context.sleep.hide_counts(m, d);
  context.call_mujoco(d, [&] { mj_Euler(&context.mirror, d); });
  history_.end_part(m, d, half == 0 && context.report.advance.num_steps == 0);
  step_->end_at(d->time);
  half_qvel_[half].assign(d->qvel, d->qvel + m->nv);
  return !context.failed();
}

/// Computes the error, which is the distance of x_f and x_2.
void Advance::measure(const mjData* d) {
  const mjModel* m = context_->model;
  dq_.resize(m->nv);
  mj_differentiatePos(m, dq_.data(), 1, full_qpos_.data(), d->qpos);
  error_ = norm_.calc(m, dq_, {d->act, static_cast<std::size_t>(m->na)}, full_act_);
}

/// Ends a step with x_2, or with the extrapolated state where motion is smooth.
void Advance::accept(double h, mjData* d) {
  StepContext& context = *context_;
  const mjModel* m = context.model;
  AdvanceReport& report = context.report.advance;
  if (is_last_) d->time = options_.until;
  if (options_.extrapolate) {
    extrapolation_.compare(start_pattern_, full_pattern_, half_patterns_);
    if (!extrapolation_.choose(m, velocities(), norm_.levers())) ++report.num_not_extrapolated;
    extrapolation_.apply(m, d, dq_, velocities(), full_act_);
  }
  for (const AdvanceAverages::Part& part : halves_) averages_.add(m, part);
  control_.accept(h, error_ / options_.accuracy);
  ++report.num_steps;
  report.smallest_step = report.num_steps == 1 ? h : std::min(report.smallest_step, h);
  report.largest_step = std::max(report.largest_step, h);
  report.sum_of_errors += error_;
  report.largest_error = std::max(report.largest_error, error_);
  warn_of_penetration(context);
  context.penetration.finish(m, d);
  context.lagged_impulses.finish();
  finish_anchors(d);
}

/// Ends the anchors of a step. The next step finds how far extrapolation moved the bodies in their
/// poses, so that a contact that sticks stays where it is.
void Advance::finish_anchors(const mjData* d) {
  if (!has_anchors_) return;
  context_->anchors.finish(context_->model, d);
  for (const AnchorSummary& half : half_anchors_) {
    num_anchors_lost_ += half.num_lost;
    num_anchors_forgotten_ += half.num_forgotten;
  }
}

/// Computes poses, and the sensors of position and velocity, at the end of the call.
void Advance::sense_end(mjData* d) {
  const mjModel* m = context_->stage;
  if (m->nsensor == 0 && !(m->opt.enableflags & mjENBL_ENERGY)) {
    context_->call_mujoco(d, [&] { mj_fwdKinematics(m, d); });
    return;
  }
  // Sensors with a delay push samples, which the next step pushes itself.
  mj_getState(m, d, state_.data(), mjSTATE_FULLPHYSICS);
  context_->call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    mj_fwdVelocity(m, d);
    ContactStep::sense_state(m, d);
  });
  mj_setState(m, d, state_.data(), mjSTATE_FULLPHYSICS);
}

void Advance::finish(StepContext& context, ContactStep& step, mjData* d) {
  const mjModel* m = context.model;
  step.end_at(d->time);
  context.mocap.end_at(d->time);
  context.mocap.place(m, d, d->time);
  if (context.report.advance.num_steps > 0) sense_end(d);
  averages_.finish(m, d, &context.report.contacts);
  context.report.statistics = sums_;
  context.report.anchors.num_lost = num_anchors_lost_;
  context.report.anchors.num_forgotten = num_anchors_forgotten_;
  context.report.timings = timings_;
  memory.set(m, d, control_.next_step(), control_.last_error());
  context.report.advance.next_step = control_.next_step();
  context.report.advance.last_error = control_.last_error();
  context.report.num_steps = context.report.advance.num_steps;
}

}  // namespace stiction::sim
