#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "stiction/sim/advance/advance.hpp"
#include "stiction/sim/integrators/contact_step.hpp"
#include "stiction/sim/integrators/event_step.hpp"
#include "stiction/sim/integrators/mujoco_step.hpp"
#include "stiction/sim/integrators/rk4_step.hpp"
#include "stiction/sim/report/taxel_reader.hpp"
#include "stiction/sim/step/input_check.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/stepper.hpp"

namespace stiction::sim {

/// The parts of a stepper, and the flow of its calls. StepMemories are what it remembers.
class Stepper::Workspace {
 public:
  Workspace(const mjModel* model, const StepOptions& options, plant::MaterialTable materials);

  const StepReport& step(mjData* d, int num_steps) noexcept;
  const StepReport& advance(mjData* d, const AdvanceOptions& options) noexcept;
  const StepReport& forward(mjData* d) noexcept;
  std::vector<double> calc_hessian() const;
  void set_taxels(std::span<const plant::TaxelGrid> grids);
  /// See Stepper::set_state.
  void set_state(std::span<const std::uint64_t> state);
  void follow_model();

  const mjModel* const model;  // the caller's
  const StepOptions options;
  const plant::MaterialTable materials;
  plant::Model plant;
  StepModels models;
  StepMemories memories;
  StepOutputs out;
  base::WorkLimits limits;  // of the step that is taken
  InputCheck input_check;
  bool may_sleep = true;  // false: the flag sleep has no effect

 private:
  void check_inputs(mjData* d, bool has_sleep);
  StepStart find_start(mjData* d, double duration);
  void begin(const StepStart& start);
  void step_once(mjData* d);
  void advance_once(mjData* d, const AdvanceOptions& options);
  template <class F>
  void call(mjData* d, F&& work);
  template <class F>
  void take(mjData* d, int signature, F&& work);
  bool must_begin_again();
  void restore(mjData* d);
  void read_taxels(mjData* d);
  void fail_unfinished(std::uint32_t status, std::string message);

  StepInputs in_;
  std::variant<MuJoCoStep, ContactStep, EventStep, Rk4Step> step_;
  std::optional<Advance> advance_;  // with the integrator `euler`
  std::shared_ptr<TaxelReader> taxels_;
  // The start of the step: its state, and the findings of the call before it. MuJoCoStep keeps a
  // state of its own.
  KeptState start_;
  CallFindings findings_;
  bool has_start_ = false;                 // start_ is that of the present step
  std::vector<std::uint64_t> call_state_;  // StepMemories before a call of advance
};

}  // namespace stiction::sim
