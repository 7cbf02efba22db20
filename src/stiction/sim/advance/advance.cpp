#include "stiction/sim/advance/advance.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/sim/report/warning_table.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"

namespace stiction::sim {
namespace {

/// The shortest step [s]. Squares of shorter ones, by which stiffnesses are divided, underflow.
constexpr double kShortestStep = 1e-100;

/// The error from which on a step of the least length fails, relative to the accuracy.
constexpr double kTooInaccurate = 100;

bool is_least_step(double h) { return h <= AdvanceControl::kLeastStep * (1 + 1e-9); }

}  // namespace

Advance::Advance(const mjModel* model, ContactStep* step, StepModels* models,
                 StepMemories* memories, StepOutputs* out)
    : step_(*step),
      memories_(*memories),
      out_(*out),
      pair_(model, step, models, memories, out),
      end_(model) {}

void Advance::run(const StepInputs& in, mjData* d, const AdvanceOptions& options) {
  options_ = options;
  pair_.begin_call(in.model, in.options, options.extrapolate);
  const StepInputs parts_in{.model = in.model,
                            .models = in.models,
                            .options = pair_.options(),
                            .materials = in.materials,
                            .plant = in.plant,
                            .mocap = in.mocap};
  start(in, d);
  while (d->time < options.until && !out_.failed()) take_step(parts_in, d);
  if (!out_.failed()) finish(parts_in, d);
}

void Advance::start(const StepInputs& in, const mjData* d) {
  const StepLength& last = memories_.step_length;
  const bool goes_on = last.goes_on();
  control_.start(
      options_.first_step.value_or(goes_on ? last.next_step() : AdvanceControl::kFirstStep),
      options_.last_error.value_or(goes_on ? last.last_error() : 1));
  if (!std::exchange(told_of_plugins_, true)) warn_of_plugin_state(in.model);
  averages_.start(in.model, d);
  anchors_ = {};
  AdvanceReport& report = out_.report->advance;
  report.until = options_.until;
  report.accuracy = options_.accuracy;
  report.first_step = report.next_step = control_.next_step();
  report.first_error = report.last_error = control_.last_error();
}

/// Warns of engine plugins with a state of their own. It is stepped with each half of a step and
/// restored after a rejected one, but no error of it is known, so it does not shorten a step.
void Advance::warn_of_plugin_state(const mjModel* m) {
  std::set<std::string> names;
  for (int i = 0; i < m->nplugin; ++i)
    if (m->plugin_statenum[i] > 0) names.insert(mjp_getPluginAtSlot(m->plugin[i])->name);
  if (names.empty()) return;
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  out_.warn(warnings::kPluginState, {.text = text});
}

/// Takes one step, with as many attempts as it needs.
void Advance::take_step(const StepInputs& in, mjData* d) {
  StepReport& report = *out_.report;
  pair_.begin(in, d, report.advance.num_steps == 0);
  const std::uint32_t status = std::exchange(report.status, kOk);
  for (;;) {
    const double left = options_.until - d->time;
    const double h = control_.choose(left, options_.max_time_step.value_or(left));
    is_last_ = h == left;
    if (!check_time(h, d)) break;
    const DoubledStep::Result result = pair_.take(in, h, d);
    if (result == DoubledStep::Result::kFatal || end_attempt(in, result, h, d)) break;
    ++report.advance.num_rejected;
    pair_.begin_again(d);
  }
  report.status |= status;
}

/// Fails the call if a step is too short, or if its half does not advance the time, so that the
/// call would not end.
/// @return false if it failed
bool Advance::check_time(double h, const mjData* d) {
  if (h < kShortestStep) {
    out_.fail(kInaccurate, "a step of " + base::to_text(h) +
                               " s is too short to advance the time; the least one is " +
                               base::to_text(kShortestStep) + " s; choose a later end of the call");
    return false;
  }
  if (is_last_ || d->time + 0.5 * h > d->time) return true;
  const double spacing = std::nextafter(d->time, options_.until) - d->time;
  out_.fail(kInaccurate, "half a step of " + base::to_text(h) +
                             " s does not advance the time, because doubles near " +
                             base::to_text(d->time) + " s are " + base::to_text(spacing) +
                             " s apart; set data.time back to begin at an earlier time");
  return false;
}

/// Accepts a step, or chooses the length of the next attempt.
/// @return false if another attempt is needed
bool Advance::end_attempt(const StepInputs& in, DoubledStep::Result result, double h, mjData* d) {
  AdvanceReport& report = out_.report->advance;
  const bool is_least = is_least_step(h);
  if (result == DoubledStep::Result::kUnsolved) {
    ++report.num_failed;
    if (!is_least) {
      control_.fail(h);
      return false;
    }
    if (out_.failed()) return true;
  }
  const double error = pair_.error() / options_.accuracy;
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
    if (fail_inaccurate(in, h, d->time)) return true;
  }
  accept(in, h, d);
  return true;
}

/// Fails the call if the error of the least step is too large.
/// @return true if it failed
bool Advance::fail_inaccurate(const StepInputs& in, double h, double time) {
  const double error = pair_.error();
  if (!std::isfinite(error / options_.accuracy)) {
    out_.fail(kNonFiniteSolution, "the state is not finite after a step of " + base::to_text(h) +
                                      " s from time " + base::to_text(time));
    return true;
  }
  if (error / options_.accuracy <= kTooInaccurate || in.options.on_failure == OnFailure::keep_best)
    return false;
  out_.fail(kInaccurate, "the error of the least step, " + base::to_text(h) + " s, is " +
                             base::to_text(error) + " m, and the accuracy is " +
                             base::to_text(options_.accuracy) +
                             " m: velocities change too fast at time " + base::to_text(time) +
                             "; choose a larger accuracy, or keep_best for on_failure");
  return true;
}

/// Makes the solver more accurate if its error may be a part of that of the step.
/// @return true if the step must be taken again
bool Advance::tighten_if_needed(double h) {
  const double error = h * pair_.velocity_bound();
  if (!std::isfinite(error) || error <= 0.1 * options_.accuracy) return false;
  pair_.tighten();
  return error > options_.accuracy;
}

/// Ends a step with x_2, or with the extrapolated state where motion is smooth.
void Advance::accept(const StepInputs& in, double h, mjData* d) {
  AdvanceReport& report = out_.report->advance;
  if (is_last_) d->time = options_.until;
  if (options_.extrapolate) {
    if (!pair_.extrapolate(in, d)) ++report.num_not_extrapolated;
    memories_.anchors.mark_moved();
  }
  for (const int half : {0, 1}) averages_.add(in.model, pair_.part(half));
  control_.accept(h, pair_.error() / options_.accuracy);
  ++report.num_steps;
  report.smallest_step = report.num_steps == 1 ? h : std::min(report.smallest_step, h);
  report.largest_step = std::max(report.largest_step, h);
  report.sum_of_errors += pair_.error();
  report.largest_error = std::max(report.largest_error, pair_.error());
  warn_of_penetration(in, &memories_.penetration, &out_);
  // Extrapolation moves bodies that stick. The next step finds that in their poses, so that their
  // contacts stay where they are.
  memories_.end_within_call(d);
  for (const int half : {0, 1}) {
    anchors_.num_lost += pair_.anchors(half).num_lost;
    anchors_.num_forgotten += pair_.anchors(half).num_forgotten;
  }
}

/// Computes poses, and the sensors of position and velocity, at the end of the call.
void Advance::sense_end(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  if (m->nsensor == 0 && !(m->opt.enableflags & mjENBL_ENERGY)) {
    out_.call_mujoco(d, [&] { mj_fwdKinematics(m, d); });
    return;
  }
  // Sensors with a delay push samples, which the next step pushes itself.
  end_.keep(d, mjSTATE_FULLPHYSICS);
  out_.call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    mj_fwdVelocity(m, d);
    sense_state(m, d);
  });
  end_.restore(d);
}

void Advance::finish(const StepInputs& in, mjData* d) {
  StepReport& report = *out_.report;
  step_.end_at(d->time);
  memories_.mocap.motion.end_at(d->time);
  in.mocap.place(in.model, d, d->time);
  if (report.advance.num_steps > 0) sense_end(in, d);
  averages_.finish(in.model, d, &report.contacts);
  report.statistics = pair_.work().statistics;
  report.timings = pair_.work().timings;
  report.anchors.num_lost = anchors_.num_lost;
  report.anchors.num_forgotten = anchors_.num_forgotten;
  memories_.step_length.set(d, control_.next_step(), control_.last_error());
  report.advance.next_step = control_.next_step();
  report.advance.last_error = control_.last_error();
  report.num_steps = report.advance.num_steps;
}

}  // namespace stiction::sim
