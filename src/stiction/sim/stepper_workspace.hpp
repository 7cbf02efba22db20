#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "stiction/plant/model/number_check.hpp"
#include "stiction/sim/advance/advance.hpp"
#include "stiction/sim/integrators/contact_step.hpp"
#include "stiction/sim/integrators/event_step.hpp"
#include "stiction/sim/integrators/mujoco_step.hpp"
#include "stiction/sim/integrators/rk4_step.hpp"
#include "stiction/sim/report/step_report.hpp"
#include "stiction/sim/stepper.hpp"

namespace stiction::sim {

/// What a stepper consists of: its context, the step of its integrator, and what a failed step
/// restores. The flow of a step is in stepper_workspace.cpp, and what a stepper remembers in
/// stepper_memory.cpp.
class Stepper::Workspace {
 public:
  Workspace(const mjModel* model, const StepOptions& options, plant::MaterialTable materials);

  const StepReport& step(mjData* d, int num_steps) noexcept;
  const StepReport& advance(mjData* d, const AdvanceOptions& options) noexcept;
  const StepReport& forward(mjData* d) noexcept;
  std::vector<double> calc_hessian() const;
  void set_taxels(std::span<const plant::TaxelGrid> grids);

  std::vector<std::uint64_t> save_anchors() const;
  std::vector<AnchorReport> list_anchors() const;
  void load_anchors(const mjData* d, std::span<const std::uint64_t> words);
  void forget_anchors();

  void get_state(std::vector<std::uint64_t>* state) const;
  void set_state(std::span<const std::uint64_t> state);
  void resume(std::span<const std::uint64_t> state);

  StepContext context;
  bool model_stays = false;

 private:
  void begin(mjData* d);
  bool may_have_changed_model() const;
  void check_numbers();
  void follow_model();
  void step_once(mjData* d);
  void advance_once(mjData* d, const AdvanceOptions& options);
  void restore_call(mjData* d);
  template <class F>
  void call(mjData* d, F&& work);
  void keep_state(const mjData* d, int signature);
  template <class F>
  void solve_with_mocap(mjData* d, int signature, F&& take);
  void start_sleep(mjData* d);
  void start_memories(const mjData* d);
  void start_mocap(mjData* d, double duration);
  void read_taxels(mjData* d);
  void keep_given_poses(const mjData* d);
  void restore_given_poses(mjData* d);
  bool begins_again();
  bool give_way();
  void restore_data(mjData* d, int signature);
  void restore_state(mjData* d, int signature);
  void check_end(mjData* d);
  void explain();
  void fail_unfinished(std::uint32_t status, std::string message);
  void withdraw_certificate();
  void require_anchors(const char* function) const;
  void write_memory(std::vector<std::uint64_t>* words) const;
  void read_memory(std::span<const std::uint64_t> words);
  void restore_memory(std::span<const std::uint64_t> words);
  std::array<std::uint64_t, 4> make_state_key() const;
  std::uint32_t find_lost_memory(const mjData* d) const;
  std::uint32_t find_memory_used() const;

  std::variant<MuJoCoStep, ContactStep, EventStep, Rk4Step> step_;
  Advance advance_;
  // What the stepper remembered before a call of advance.
  std::vector<std::uint64_t> call_memory_;
  // The state and the memory at the start of the step. state_ is empty for MuJoCoStep, which keeps
  // its own.
  std::vector<mjtNum> state_;
  std::vector<std::uint64_t> memory_;
  plant::MocapMotion mocap_;
  std::vector<mjtNum> given_poses_;  // of mocap bodies, if data has others within the step
  CallFindings findings_;            // before the step
  plant::NumberCheck number_check_;
  bool is_state_kept_ = false;
  const mjData* last_data_ = nullptr;  // of the last step; null: the next step goes on with it
  // The time at which the last step ended [s]; NaN: there was none.
  double last_time_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace stiction::sim
