#pragma once

#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// MuJoCo's own mj_step, the baseline, with its contacts in our report.
class MuJoCoStep {
 public:
  void take(StepContext& context, mjData* d);

 private:
  void report_contacts(StepContext& context, mjData* d);

  contact::ContactProblem problem_;
  contact::ContactSolution solution_;
  std::vector<mjtNum> saved_state_;
};

}  // namespace stiction::sim
