#include "stiction/sim/advance/doubled_step.hpp"

#include <algorithm>
#include <limits>

#include "stiction/plant/forces/actuators.hpp"
#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim {
namespace {

/// The failures after which a shorter step may succeed.
constexpr std::uint32_t kMayRetry =
    kNotConverged | kCertificateFailed | kNonFiniteSolution | kNotPositiveDefinite;

/// True if engine plugins compute forces. These may depend on the time step, as those of mujoco.pid
/// with a limited slew rate do, so that steps of two lengths cannot share them.
bool has_force_plugins(const mjModel* m) {
  for (int i = 0; i < m->nplugin; ++i)
    if (mjp_getPluginAtSlot(m->plugin[i])->capabilityflags & (mjPLUGIN_ACTUATOR | mjPLUGIN_PASSIVE))
      return true;
  return false;
}

}  // namespace

DoubledStep::DoubledStep(const mjModel* model, ContactStep* step, StepModels* models,
                         StepMemories* memories, StepOutputs* out)
    : step_(*step), models_(*models), memories_(*memories), out_(*out), start_(model) {}

void DoubledStep::begin_call(const mjModel* m, const StepOptions& options, bool certifies_full) {
  options_ = options;
  options_.parameters.friction_regularization = 0;
  gap_correction_ = options.parameters.gap_correction;
  certifies_full_ = certifies_full;
  shares_forces_ = !has_force_plugins(m);
  lacks_anchors_ = false;
  norm_.start(m);  // the caller may have changed sizes
  work_ = {};
  work_.statistics.num_parts = 0;
}

void DoubledStep::tighten() {
  constexpr double kLeastTolerance = 1e-10;
  if (options_.tolerance > kLeastTolerance)
    options_.tolerance = std::max(0.1 * options_.tolerance, kLeastTolerance);
}

void DoubledStep::set_time_step(double h) {
  models_.set_time_step(h);
  // The share of an overlap that a step corrects is proportional to its length.
  options_.parameters.gap_correction =
      std::min(1.0, gap_correction_ * h / models_.reference_time_step());
}

void DoubledStep::begin(const StepInputs& in, mjData* d, bool is_first) {
  start_.state.keep(d);
  start_.findings = *out_.report;
  start_.qvel.assign(d->qvel, d->qvel + in.model->nv);
  start_.is_first = is_first;
  start_.has_geometry = false;
  start_.memories = memories_.find_start(d);
  memories_.begin_within_call(start_.memories);
}

void DoubledStep::begin_again(mjData* d) {
  withdraw_step(start_.findings, out_.report);
  // A failure of the first solve leaves the geometry as it was.
  if (start_.has_geometry) return;
  start_.state.restore(d);
  memories_.restore_within_call(d);
  memories_.begin_within_call(start_.memories);
}

DoubledStep::Result DoubledStep::take(const StepInputs& in, double h, mjData* d) {
  const mjModel* m = in.model;
  velocity_bound_ = 0;
  error_ = std::numeric_limits<double>::quiet_NaN();
  extrapolation_.start(m);
  const bool is_full_solved = take_full(in, h, d);
  bool is_solved = is_full_solved;
  if (is_solved) {
    guess_.resize(m->nv);
    for (int i = 0; i < m->nv; ++i) guess_[i] = 0.5 * (start_.qvel[i] + full_.qvel[i]);
    is_solved = take_half(in, 0, 0.5 * h, guess_, d) && take_half(in, 1, 0.5 * h, full_.qvel, d);
  }
  const std::uint32_t status = out_.report->status;
  start_.has_geometry = shares_forces_ && !is_full_solved && status != kOk;
  if (is_solved) measure(m, d);
  if (is_solved && status == kOk) return Result::kSolved;
  return (status & ~kMayRetry) == 0 ? Result::kUnsolved : Result::kFatal;
}

/// Solves a part of the step and adds its work to the sums.
bool DoubledStep::solve(const StepInputs& in, mjData* d, const StepPart& part) {
  const bool is_solved = step_.find_velocities(in, d, part);
  add_statistics(out_.report->statistics, &work_.statistics);
  add_timings(out_.report->timings, &work_.timings);
  if (!is_solved) return false;
  velocity_bound_ = std::max(velocity_bound_, step_.velocity_bound());
  extrapolation_.join(in.model, in.plant, step_.contacts().islands);
  return true;
}

/// Finds x_f without a change of data.
bool DoubledStep::take_full(const StepInputs& in, double h, mjData* d) {
  const mjModel* m = in.model;
  set_time_step(h);
  in.mocap.place(m, d, d->time);
  if (!solve(in, d,
             {.is_trial = true,
              .has_certificate = certifies_full_,
              .keeps_geometry = start_.has_geometry}))
    return false;
  const SolvedContacts& contacts = step_.contacts();
  write_contacts(m, d, contacts.problem, contacts.solution, &full_.contacts);
  const AdvancePattern::Problem problem{m, d, in.plant, contacts.problem, full_.contacts};
  start_.pattern.read_start(problem);
  full_.pattern.read(problem, contacts.solution);
  full_.qvel.assign(start_.qvel.begin(), start_.qvel.end());
  step_.copy_velocities(in, d, full_.qvel.data());
  full_.qpos.assign(d->qpos, d->qpos + m->nq);
  mj_integratePos(m, full_.qpos.data(), full_.qvel.data(), h);
  full_.act.assign(d->act, d->act + m->na);
  for (int a = 0; a < m->nactuator; ++a)
    for (int i = m->actuator_actadr[a]; i < m->actuator_actadr[a] + m->actuator_actnum[a]; ++i)
      full_.act[i] = plant::calc_next_activation(in.models.stages(), d, a, i);
  return true;
}

/// Takes a half step and integrates it in data.
/// @param guess velocities from which the solver starts
bool DoubledStep::take_half(const StepInputs& in, int half, double h, std::span<const double> guess,
                            mjData* d) {
  const mjModel* m = in.model;
  const bool is_first = half == 0 && start_.is_first;
  set_time_step(h);
  if (half == 1) {
    memories_.end_part();
    in.mocap.place(m, d, d->time);
  }
  if (!solve(in, d, {.keeps_geometry = half == 0 && shares_forces_, .guess = guess})) return false;
  Half& end = halves_[half];
  const ContactReport& contacts = out_.report->contacts;
  end.anchors = out_.report->anchors;
  if (is_first) lacks_anchors_ = memories_.anchors.lacks_memory();
  if (AdvanceAverages::has_sensors(m)) sense_accelerations(in, d, &out_);
  end.pattern.read({m, d, in.plant, step_.contacts().problem, contacts}, step_.contacts().solution);
  AdvanceAverages::read(m, d, contacts, h, &end.part);
  out_.call_mujoco(d, [&] { mj_Euler(in.models.integrated(), d); });
  if (m->nhistory > 0) delays_.end_part(m, d, is_first);
  step_.end_at(d->time);
  end.qvel.assign(d->qvel, d->qvel + m->nv);
  return !out_.failed();
}

/// Computes the error.
void DoubledStep::measure(const mjModel* m, const mjData* d) {
  dq_.resize(m->nv);
  mj_differentiatePos(m, dq_.data(), 1, full_.qpos.data(), d->qpos);
  error_ = norm_.calc(m, dq_, {d->act, static_cast<std::size_t>(m->na)}, full_.act);
}

bool DoubledStep::extrapolate(const StepInputs& in, mjData* d) {
  const mjModel* m = in.model;
  const AdvanceExtrapolation::Velocities v{start_.qvel, full_.qvel, halves_[0].qvel,
                                           halves_[1].qvel};
  extrapolation_.compare(start_.pattern, full_.pattern, halves_[0].pattern, halves_[1].pattern);
  const bool takes_all = extrapolation_.choose(m, v, norm_.levers());
  extrapolation_.apply(m, d, dq_, v, full_.act);
  return takes_all;
}

}  // namespace stiction::sim
