#pragma once

#include <mujoco/mujoco.h>

#include "stiction/sim/advance/averages.hpp"
#include "stiction/sim/advance/control.hpp"
#include "stiction/sim/advance/doubled_step.hpp"
#include "stiction/sim/advance/options.hpp"

namespace stiction::sim {

/// Advances a simulation to a given time by steps whose lengths follow from their errors, by step
/// doubling; see DoubledStep. Source: [theory:error-control].
class Advance {
 public:
  /// @param step must outlive this, like all others
  Advance(const mjModel* model, ContactStep* step, StepModels* models, StepMemories* memories,
          StepOutputs* out);

  /// Advances data to options.until, or fails the step; then the caller restores the state. Trees
  /// must not sleep, because sleep counts steps.
  /// @param in with the reference time step
  void run(const StepInputs& in, mjData* d, const AdvanceOptions& options);

  /// True if contacts began without anchors in the first step of the call, because the simulator
  /// did not end the call before, and got no anchors by set_state.
  bool lacks_anchors() const { return pair_.lacks_anchors(); }

 private:
  void start(const StepInputs& in, const mjData* d);
  void finish(const StepInputs& in, mjData* d);
  void take_step(const StepInputs& in, mjData* d);
  bool end_attempt(const StepInputs& in, DoubledStep::Result result, double h, mjData* d);
  bool fail_inaccurate(const StepInputs& in, double h, double time);
  bool check_time(double h, const mjData* d);
  bool tighten_if_needed(double h);
  void accept(const StepInputs& in, double h, mjData* d);
  void sense_end(const StepInputs& in, mjData* d);
  void warn_of_plugin_state(const mjModel* m);

  ContactStep& step_;
  StepMemories& memories_;
  StepOutputs& out_;
  DoubledStep pair_;
  AdvanceOptions options_;
  AdvanceControl control_;
  AdvanceAverages averages_;
  KeptState end_;                 // of the call
  AnchorSummary anchors_;         // lost and forgotten in the call
  bool told_of_plugins_ = false;  // the warning of their state was given
  bool is_last_ = false;          // the step ends at the end of the call
};

}  // namespace stiction::sim
