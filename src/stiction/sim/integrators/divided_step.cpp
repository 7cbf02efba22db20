#include "stiction/sim/integrators/divided_step.hpp"

#include <algorithm>
#include <utility>

#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim {

void DividedStep::begin(StepContext& context, const mjData* d) {
  time_ = d->time;
  qpos_.assign(d->qpos, d->qpos + context.model->nq);
  qvel_.assign(d->qvel, d->qvel + context.model->nv);
  mocap_pos_.assign(d->mocap_pos, d->mocap_pos + 3 * context.model->nmocap);
  mocap_quat_.assign(d->mocap_quat, d->mocap_quat + 4 * context.model->nmocap);
  sums = {};
  sums.num_parts = 0;
  timings_ = context.report.timings = {};
  clear_arrays(&contacts_);
}

void DividedStep::add_part(StepContext& context) {
  add_statistics(context.report.statistics, &sums);
  add_timings(std::exchange(context.report.timings, {}), &timings_);
  append_arrays(context.report.contacts, &contacts_);
}

void DividedStep::restore(mjData* d) const {
  std::copy(qpos_.begin(), qpos_.end(), d->qpos);
  std::copy(qvel_.begin(), qvel_.end(), d->qvel);
  std::copy(mocap_pos_.begin(), mocap_pos_.end(), d->mocap_pos);
  std::copy(mocap_quat_.begin(), mocap_quat_.end(), d->mocap_quat);
  d->time = time_;
}

void DividedStep::end(StepContext& context, mjData* d) {
  const mjModel* m = context.model;
  context.update();
  std::swap(context.report.contacts, contacts_);
  context.report.timings = timings_;
  context.report.statistics = sums;
  end_qpos_.assign(d->qpos, d->qpos + m->nq);
  end_qvel_.assign(d->qvel, d->qvel + m->nv);
  restore(d);
  if (context.failed()) return;
  const double dt = context.mirror.opt.timestep;
  for (int i = 0; i < m->nv; ++i) d->qacc[i] = (end_qvel_[i] - qvel_[i]) / dt;
  context.call_mujoco(d, [&] { mj_Euler(&context.mirror, d); });
  if (context.failed()) return;
  std::copy(end_qpos_.begin(), end_qpos_.end(), d->qpos);
  std::copy(end_qvel_.begin(), end_qvel_.end(), d->qvel);
}

}  // namespace stiction::sim
