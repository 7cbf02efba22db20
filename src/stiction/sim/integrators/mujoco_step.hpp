#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// Takes a step with MuJoCo's own mj_step and writes its contacts to our report. It is the baseline
/// of comparisons.
class MuJoCoStep {
 public:
  /// Takes a step. If MuJoCo resets the state, restores it and fails.
  void take(StepContext& context, mjData* d);
  /// Calls mj_forward.
  void forward(StepContext& context, mjData* d);

  /// Does nothing: mj_step remembers the step before in mjData.
  void write_memory(std::vector<std::uint64_t>*) const {}
  void read_memory(std::span<const std::uint64_t>*) {}
  void follow_model(const mjModel*, const StepOptions&) {}
  std::uint32_t find_memory_used() const { return 0; }
  void forget_active_set() {}

 private:
  void report_contacts(StepContext& context, mjData* d);

  contact::ContactProblem problem_;
  contact::ContactSolution solution_;
  std::vector<mjtNum> saved_state_;
};

}  // namespace stiction::sim
