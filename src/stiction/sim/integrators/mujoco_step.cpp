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

}  // namespace

void MuJoCoStep::take(StepContext& context, mjData* d) {
  constexpr int kState = mjSTATE_INTEGRATION;
  saved_state_.resize(mj_stateSize(context.stage, kState));
  mj_getState(context.stage, d, saved_state_.data(), kState);
  const int num_resets = count_resets(d);
  context.start_clock();
  context.call_mujoco(d, [&] { mj_step(context.stage, d); });
  context.report.timings.solve = context.clock.lap();
  if (count_resets(d) != num_resets)
    context.fail(kNonFiniteSolution, "mj_step found a state or accelerations that are not finite");
  if (context.report.status != kOk) {
    mj_setState(context.stage, d, saved_state_.data(), kState);
    return;
  }
  report_contacts(context, d);
  context.report.timings.finish = context.clock.lap();
}

void MuJoCoStep::forward(StepContext& context, mjData* d) {
  context.call_mujoco(d, [&] { mj_forward(context.stage, d); });
  if (!context.failed()) report_contacts(context, d);
}

void MuJoCoStep::report_contacts(StepContext& context, mjData* d) {
  const plant::Model& plant = context.plant;
  StepReport& report = context.report;
  // mj_step stops by a criterion of its own, which bounds no error.
  report.certificate.error_bound = report.certificate.velocity_bound = contact::kInfinity;
  problem_.clear(context.mirror.opt.timestep);
  for (const plant::Model::Block& block : plant.blocks()) problem_.add_block(block.num_dofs);
  plant::add_contacts(context.stage, d, plant, context.materials, {}, &problem_);
  plant::to_solver_dofs(d, plant, d->qvel, problem_.v0.data());
  plant::read_mujoco_solution(context.stage, d, problem_, &solution_);
  write_contacts(context.model, d, problem_, solution_, &report.contacts);
  write_statistics(problem_, solution_, &report);
  const int num_islands = std::clamp(d->nisland, 1, mjNISLAND);
  for (int i = 0; i < num_islands; ++i) {
    report.statistics.iterations += d->solver_niter[i];
    report.statistics.max_iterations =
        std::max(report.statistics.max_iterations, d->solver_niter[i]);
  }
}

}  // namespace stiction::sim
