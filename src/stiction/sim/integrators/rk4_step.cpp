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

Rk4Step::Rk4Step(const StepInputs& in, StepModels* models, StepMemories* memories, StepOutputs* out)
    : models_(*models),
      out_(*out),
      motion_(in, memories, out),
      event_step_(in, models, memories, out),
      step_(in.model, models, out),
      start_(in.model) {}

void Rk4Step::take(const StepInputs& in, mjData* d) {
  const double dt = in.time_step();
  step_.begin(d);
  constexpr double kRounding = 1e-12;  // of the step
  blocked_ = 0;
  for (double taken = 0; dt - taken > kRounding * dt && !out_.failed();) {
    if (!start_part(in, d, taken == 0)) break;
    taken += take_part(in, d, taken, dt - taken);
  }
  if (out_.failed()) out_.report->certificate.ok = false;
  step_.end(d);
  // The rows are those of the end, without forces. Readers get the forces from forward().
  plant::remove_rows(in.model, d);
}

void Rk4Step::forward(const StepInputs& in, mjData* d) {
  models_.restore_time_step();  // an attempt that failed may have left its own time step
  const double dt = in.time_step();
  step_.begin(d);
  qacc_.resize(in.model->nv);
  if (start_part(in, d, true)) {
    if (motion_.calc_acceleration(in, d, 0, dt, qacc_.data())) {
      motion_.write_back(in, d, dt, true);
      if (!out_.failed()) sense_accelerations(in, d, &out_);
    } else if (!out_.failed()) {
      // No accelerations exist here. The step would begin with its shortest part.
      models_.set_time_step(std::min(std::max(kMinPart, kMinShare * dt), dt));
      event_step_.forward(in, d);
    }
  }
  if (out_.failed()) out_.report->certificate.ok = false;
  step_.restore(d);
}

/// Solves the impacts, and keeps the state after them.
/// @param senses true to compute the sensors of position and velocity before the impacts
bool Rk4Step::start_part(const StepInputs& in, mjData* d, bool senses) {
  models_.restore_time_step();
  motion_.start(in, d);
  if (out_.failed()) return false;
  if (senses) out_.call_with_callbacks(in.model, d, [&] { sense_state(in.models.stages(), d); });
  if (out_.failed()) return false;
  if (!motion_.resolve_impacts(in, d) && !out_.failed())
    out_.fail(
        kNotConverged,
        "the impacts have no solution: overlaps or limits push the same body in opposite "
        "directions; remove the overlaps of the initial state, or use a compliant contact model");
  if (out_.failed()) return false;
  start_.keep(d, mjSTATE_TIME | mjSTATE_QPOS | mjSTATE_QVEL);
  return true;
}

/// Takes one part of the step. Halves the part until it succeeds. If it gets too short, takes a
/// part of semi-implicit Euler with events instead.
/// @param taken  the time that earlier parts took [s]
/// @param limit the rest of the step [s]
/// @return the part's duration [s]
double Rk4Step::take_part(const StepInputs& in, mjData* d, double taken, double limit) {
  const double shortest = std::min(std::max(kMinPart, kMinShare * (taken + limit)), limit);
  const bool senses = taken == 0;
  // An obstacle that stopped an earlier part is still there.
  double duration = blocked_ > taken ? std::min(limit, 0.5 * (blocked_ - taken)) : limit;
  for (is_at_start_ = true; duration >= shortest; duration *= 0.5) {
    if (try_part(in, d, duration, senses)) return duration;
    if (out_.failed()) return 0;
    is_at_start_ = false;
    blocked_ = taken + duration;
    ++step_.sums.num_halvings;
  }
  start_.restore(d);
  in.mocap.place(in.model, d, d->time);
  event_step_.take_part(in, d, shortest, senses, &step_);
  return shortest;
}

/// Tries to take a part of this duration.
/// @return false if a stage or the end of the part failed, or if the step failed
bool Rk4Step::try_part(const StepInputs& in, mjData* d, double duration, bool senses) {
  const int nv = static_cast<int>(in.model->nv);
  StepStatistics sums;
  for (auto* sum : {&sum_rate_, &sum_qacc_, &displacement_, &change_}) sum->assign(nv, 0.0);
  qacc_.resize(nv);
  constexpr double kWhen[] = {0, 0.5, 0.5, 1}, kWeight[] = {1, 2, 2, 1};
  for (int stage = 0; stage < 4; ++stage) {
    if (stage > 0 || !is_at_start_) {
      place(in, d, displacement_, change_, kWhen[stage] * duration);
      if (!motion_.follow(in, d, duration)) return false;
    }
    const double reach = stage == 0 ? 0 : duration;
    if (!motion_.calc_acceleration(in, d, reach, duration, qacc_.data())) return false;
    const StepStatistics& found = out_.report->statistics;
    add_work(found, &sums);
    sums.max_iterations = std::max(sums.max_iterations, found.max_iterations);
    if (stage == 0) {
      motion_.write_back(in, d, duration, false);
      if (senses) sense_accelerations(in, d, &out_);
      if (out_.failed()) return false;
      sums.num_contacts = found.num_contacts;
      sums.num_rows = found.num_rows;
      sums.num_islands = found.num_islands;
    }
    rate_.assign(d->qvel, d->qvel + nv);
    add_turn(in.model, displacement_, &rate_);
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
  place(in, d, displacement_, change_, duration);
  // A stage leaves a curved equality along a straight line, but the end of a part satisfies it
  // again. This fails only if a loop is so near to a singular position that no acceleration holds
  // it.
  if (!motion_.follow(in, d, 0) || !motion_.holds_equalities(d)) return false;
  out_.report->statistics = sums;
  step_.add_part();
  return true;
}

/// Sets data to the state at changes of position and velocity from the part's start.
void Rk4Step::place(const StepInputs& in, mjData* d, const std::vector<double>& displacement,
                    const std::vector<double>& change, double duration) {
  start_.restore(d);
  mju_addTo(d->qvel, change.data(), static_cast<int>(change.size()));
  d->time += duration;
  in.mocap.place(in.model, d, d->time);
  if (duration == 0) return;
  out_.call_mujoco(d,
                   [&] { mj_integratePos(in.models.stages(), d->qpos, displacement.data(), 1); });
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
