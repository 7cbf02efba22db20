#include "stiction/sim/integrators/step_parts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/contact/gaps.hpp"
#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim {

void PartContacts::keep_forced_change(const mjModel* m, const mjData* d) {
  forced_change_.resize(m->nv);
  for (int i = 0; i < m->nv; ++i) forced_change_[i] = m->opt.timestep * d->qacc_smooth[i];
}

void PartContacts::adapt(const mjModel* m, const mjData* d, const plant::MocapMotion& mocap,
                         contact::ContactProblem* problem) {
  start_.calc(m, d, d->qvel, &mocap);
  forced_.calc(m, d, forced_change_.data());
  for (contact::Contact& c : problem->contacts) {
    if (contact::is_touching(c)) c.phi0 = std::min(c.phi0, 0.0);
    if (c.law.restitution == 0) continue;
    const mjContact& con = d->contact[c.source];
    const double v_n = start_.calc_at_contact(m, d, con).normal;
    const double change = std::abs(forced_.calc_at_contact(m, d, con).normal);
    if (-v_n <= 2 * change) c.law.restitution = 0;
  }
}

void WholeStep::begin(const mjData* d) {
  start_.keep(d,
              mjSTATE_TIME | mjSTATE_QPOS | mjSTATE_QVEL | mjSTATE_MOCAP_POS | mjSTATE_MOCAP_QUAT);
  sums = {};
  sums.num_parts = 0;
  timings_ = out_.report->timings = {};
  clear_arrays(&contacts_);
}

void WholeStep::add_part() {
  StepReport& report = *out_.report;
  add_statistics(report.statistics, &sums);
  add_timings(std::exchange(report.timings, {}), &timings_);
  append_arrays(report.contacts, &contacts_);
}

void WholeStep::end(mjData* d) {
  const mjModel* m = model_;
  models_.restore_time_step();
  StepReport& report = *out_.report;
  std::swap(report.contacts, contacts_);
  report.timings = timings_;
  report.statistics = sums;
  end_qpos_.assign(d->qpos, d->qpos + m->nq);
  end_qvel_.assign(d->qvel, d->qvel + m->nv);
  restore(d);
  if (out_.failed()) return;
  const double dt = models_.time_step();
  for (int i = 0; i < m->nv; ++i) d->qacc[i] = (end_qvel_[i] - d->qvel[i]) / dt;
  out_.call_mujoco(d, [&] { mj_Euler(models_.integrated(), d); });
  if (out_.failed()) return;
  std::copy(end_qpos_.begin(), end_qpos_.end(), d->qpos);
  std::copy(end_qvel_.begin(), end_qvel_.end(), d->qvel);
}

}  // namespace stiction::sim
