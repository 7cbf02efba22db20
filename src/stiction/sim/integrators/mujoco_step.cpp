#include "stiction/sim/integrators/mujoco_step.hpp"

#include <algorithm>

#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "stiction/plant/solution/write_back.hpp"
#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim {
namespace {

/// Counts the warnings with which mj_step resets the state.
int count_resets(const mjData* d) {
  return d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_BADQVEL].number +
         d->warning[mjWARN_BADQPOS].number;
}

/// Sets the friction coefficients to those of mj_step, which ignores contact properties.
void set_friction(const mjData* d, contact::ContactProblem* problem) {
  for (contact::Contact& c : problem->contacts) {
    const mjContact& con = d->contact[c.source];
    for (int i = 0; i < 5; ++i) c.friction[i] = i < con.dim - 1 ? con.friction[i] : 0;
  }
}

}  // namespace

void MuJoCoStep::take(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  start_.keep(d);
  const int num_resets = count_resets(d);
  StepReport& report = *out_.report;
  report.timings.solve = report.timings.finish = 0;
  out_.start_clock();
  out_.call_mujoco(d, [&] { mj_step(m, d); });
  out_.end_stage(&StepTimings::solve);
  if (count_resets(d) != num_resets)
    out_.fail(kNonFiniteSolution, "mj_step found a state or accelerations that are not finite");
  if (report.status != kOk) return start_.restore(d);
  report_contacts(in, d);
  out_.end_stage(&StepTimings::finish);
}

void MuJoCoStep::forward(const StepInputs& in, mjData* d) {
  out_.call_mujoco(d, [&] { mj_forward(in.models.stages(), d); });
  if (!out_.failed()) report_contacts(in, d);
}

void MuJoCoStep::report_contacts(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  StepReport& report = *out_.report;
  // mj_step stops by a criterion of its own, which bounds no error.
  report.certificate.error_bound = report.certificate.velocity_bound = contact::kInfinity;
  problem_.clear(in.time_step());
  for (const plant::Model::Block& block : in.plant.blocks()) problem_.add_block(block.num_dofs);
  plant::add_contacts(m, d, in.plant, in.materials, {}, &problem_);
  set_friction(d, &problem_);
  plant::to_solver_dofs(d, in.plant, d->qvel, problem_.v0.data());
  plant::read_mujoco_solution(m, d, problem_, &solution_);
  write_contacts(in.model, d, problem_, solution_, &report.contacts);
  write_statistics(problem_, solution_, &report);
  const int num_islands = std::clamp(d->nisland, 1, mjNISLAND);
  for (int i = 0; i < num_islands; ++i) {
    report.statistics.iterations += d->solver_niter[i];
    report.statistics.max_iterations =
        std::max(report.statistics.max_iterations, d->solver_niter[i]);
  }
}

}  // namespace stiction::sim
