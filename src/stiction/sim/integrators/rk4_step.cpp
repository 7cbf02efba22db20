#include "stiction/sim/integrators/rk4_step.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/solution/write_back.hpp"
#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim {
namespace {

/// Adds 1/2 u x w + 1/12 u x (u x w) to w.
void add_turn_of_body(const double u[3], double w[3]) {
  double first[3], second[3];
  mju_cross(first, u, w);
  mju_cross(second, u, first);
  mju_addToScl3(w, first, 0.5);
  mju_addToScl3(w, second, 1.0 / 12);
}

}  // namespace

Rk4Step::Rk4Step(const mjModel* model, const StepOptions& options,
                 const plant::MaterialTable& materials)
    : motion_(model, options, materials), event_step_(model, options, materials) {}

void Rk4Step::take(StepContext& context, mjData* d) {
  const double dt = context.mirror.opt.timestep;
  step_.begin(context, d);
  constexpr double kRounding = 1e-12;  // of the step
  blocked_ = 0;
  for (double made = 0; dt - made > kRounding * dt && !context.failed();) {
    if (!start_part(context, d, made == 0)) break;
    made += make_part(context, d, made, dt - made);
  }
  if (context.failed()) context.report.certificate.ok = false;
  step_.end(context, d);
  // The rows are those of the end, without forces. Readers get the forces from forward().
  plant::remove_rows(context.model, d);
}

void Rk4Step::forward(StepContext& context, mjData* d) {
  context.update();  // an attempt that failed may have left its own time step
  const double dt = context.mirror.opt.timestep;
  step_.begin(context, d);
  qacc_.resize(context.model->nv);
  if (start_part(context, d, true)) {
    if (motion_.calc_acceleration(context, d, 0, dt, qacc_.data())) {
      motion_.write_back(context, d, dt);
      motion_.complete_rows(context, d);
      motion_.remove_idle(d);
      if (!context.failed()) ContactStep::sense(context, d);
    } else if (!context.failed()) {
      // No accelerations exist here. The step would begin with its shortest part.
      set_time_step(context, std::min(std::max(kMinPart, kMinShare * dt), dt));
      event_step_.forward(context, d);
    }
  }
  if (context.failed()) context.report.certificate.ok = false;
  step_.restore(d);
}

/// Solves the impacts, and keeps the state after them.
/// @param senses true to compute the sensors of position and velocity before the impacts
bool Rk4Step::start_part(StepContext& context, mjData* d, bool senses) {
  context.update();
  motion_.start(context, d);
  if (context.failed()) return false;
  if (senses) context.call_mujoco(d, [&] { ContactStep::sense_state(context.stage, d); });
  if (context.failed()) return false;
  if (!motion_.resolve_impacts(context, d) && !context.failed())
    context.fail(
        kNotConverged,
        "the impacts have no solution: overlaps or limits push the same body in opposite "
        "directions; remove the overlaps of the initial state, or use a compliant contact model");
  if (context.failed()) return false;
  time_ = d->time;
  qpos_.assign(d->qpos, d->qpos + context.model->nq);
  qvel_.assign(d->qvel, d->qvel + context.model->nv);
  return true;
}

/// Takes one part of the step. Halves the part until it succeeds. If it gets too short, takes a
/// part of semi-implicit Euler with events instead.
/// @param made  the time that earlier parts took [s]
/// @param limit the rest of the step [s]
/// @return the part's duration [s]
double Rk4Step::make_part(StepContext& context, mjData* d, double made, double limit) {
  const double shortest = std::min(std::max(kMinPart, kMinShare * (made + limit)), limit);
  const bool senses = made == 0;
  // An obstacle that stopped an earlier part is still there.
  double duration = blocked_ > made ? std::min(limit, 0.5 * (blocked_ - made)) : limit;
  for (is_at_start_ = true; duration >= shortest; duration *= 0.5) {
    if (try_part(context, d, duration, senses)) return duration;
    if (context.failed()) return 0;
    is_at_start_ = false;
    blocked_ = made + duration;
    ++step_.sums.num_halvings;
  }
  std::copy(qpos_.begin(), qpos_.end(), d->qpos);
  std::copy(qvel_.begin(), qvel_.end(), d->qvel);
  d->time = time_;
  context.mocap.place(context.model, d, time_);
  event_step_.go_on(context, d, shortest, senses, &step_);
  return shortest;
}

/// Tries to take a part of this duration.
/// @return false if a stage or the end of the part failed, or if the step failed
bool Rk4Step::try_part(StepContext& context, mjData* d, double duration, bool senses) {
  const int nv = static_cast<int>(context.model->nv);
  StepStatistics sums;
  for (auto* sum : {&sum_rate_, &sum_qacc_, &displacement_, &change_}) sum->assign(nv, 0.0);
  qacc_.resize(nv);
  constexpr double kWhen[] = {0, 0.5, 0.5, 1}, kWeight[] = {1, 2, 2, 1};
  for (int stage = 0; stage < 4; ++stage) {
    if (stage > 0 || !is_at_start_) {
      place(context, d, displacement_, change_, kWhen[stage] * duration);
      if (!motion_.follow(context, d, duration)) return false;
    }
    const double reach = stage == 0 ? 0 : duration;
    if (!motion_.calc_acceleration(context, d, reach, duration, qacc_.data())) return false;
    sums.iterations += context.report.statistics.iterations;
    sums.num_lemke += context.report.statistics.num_lemke;
    sums.max_iterations = std::max(sums.max_iterations, context.report.statistics.max_iterations);
    if (stage == 0) {
      motion_.write_back(context, d, duration);
      motion_.remove_idle(d);
      if (senses) ContactStep::sense(context, d);
      if (context.failed()) return false;
      sums.num_contacts = context.report.statistics.num_contacts;
      sums.num_rows = context.report.statistics.num_rows;
      sums.num_islands = context.report.statistics.num_islands;
    }
    rate_.assign(d->qvel, d->qvel + nv);
    add_turn(context.model, displacement_, &rate_);
    const double next = stage < 3 ? kWhen[stage + 1] * duration : 0;
    for (int i = 0; i < nv; ++i) {
      sum_rate_[i] += kWeight[stage] / 6 * rate_[i];
      sum_qacc_[i] += kWeight[stage] / 6 * qacc_[i];
      displacement_[i] = next * rate_[i];
      change_[i] = next * qacc_[i];
    }
  }
  for (int i = 0; i < nv; ++i) {
    displacement_[i] = duration * sum_rate_[i];
    change_[i] = duration * sum_qacc_[i];
  }
  place(context, d, displacement_, change_, duration);
  // A stage leaves a curved equality along a straight line, but the end of a part satisfies it
  // again. This fails only if a loop is so near to a singular position that no acceleration holds
  // it.
  if (!motion_.follow(context, d, 0) || !motion_.holds_equalities(d)) return false;
  context.report.statistics = sums;
  step_.add_part(context);
  return true;
}

/// Sets data to the state at changes of position and velocity from the part's start.
void Rk4Step::place(StepContext& context, mjData* d, const std::vector<double>& displacement,
                    const std::vector<double>& change, double duration) {
  std::copy(qpos_.begin(), qpos_.end(), d->qpos);
  for (std::size_t i = 0; i < qvel_.size(); ++i) d->qvel[i] = qvel_[i] + change[i];
  d->time = time_ + duration;
  context.mocap.place(context.model, d, d->time);
  if (duration == 0) return;
  context.call_mujoco(d, [&] { mj_integratePos(context.stage, d->qpos, displacement.data(), 1); });
}

/// Converts angular velocities of bodies to rates of the logarithm of their rotation.
void Rk4Step::add_turn(const mjModel* m, const std::vector<double>& displacement,
                       std::vector<double>* rate) const {
  for (int joint = 0; joint < m->njnt; ++joint) {
    const int type = m->jnt_type[joint];
    if (type != mjJNT_FREE && type != mjJNT_BALL) continue;
    const int dof = m->jnt_dofadr[joint] + (type == mjJNT_FREE ? 3 : 0);
    add_turn_of_body(displacement.data() + dof, rate->data() + dof);
  }
}

}  // namespace stiction::sim
