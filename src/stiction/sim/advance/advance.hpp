#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/sim/advance/advance_averages.hpp"
#include "stiction/sim/advance/advance_control.hpp"
#include "stiction/sim/advance/advance_extrapolation.hpp"
#include "stiction/sim/advance/advance_history.hpp"
#include "stiction/sim/advance/advance_memory.hpp"
#include "stiction/sim/advance/advance_norm.hpp"
#include "stiction/sim/advance/advance_options.hpp"
#include "stiction/sim/advance/advance_pattern.hpp"
#include "stiction/sim/advance/advance_settings.hpp"
#include "stiction/sim/integrators/contact_step.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Advances a simulation to a given time by steps whose lengths follow from their errors, by step
/// doubling: a step of h and two of h/2 begin in the same state, and their distance is the error.
/// The step of h and the first half share the geometry of their start, so that a step of error
/// control finds geometry twice and solves three contact problems. Source:
/// [theory:error-control].
class Advance {
 public:
  /// Advances data to options.until, or fails the step; then the caller restores the state.
  /// @param settings after fix_reference
  void run(StepContext& context, AdvanceSettings& settings, ContactStep& step, mjData* d,
           const AdvanceOptions& options);

  /// True if contacts began without anchors in the first step of the call, because the simulator
  /// has none of its state.
  bool begins_anchors() const { return begins_anchors_; }

  /// What the next call remembers.
  AdvanceMemory memory;

 private:
  /// The result of an attempt to take a step.
  enum class Attempt { kSolved, kUnsolved, kFatal };

  void start(StepContext& context, const mjData* d, const AdvanceOptions& options);
  void finish(StepContext& context, ContactStep& step, mjData* d);
  void take_step(mjData* d);
  bool end_attempt(Attempt attempt, double h, mjData* d);
  void keep_start(const mjData* d);
  void restore_start(mjData* d);
  void start_memories(const mjData* d);
  Attempt attempt(double h, mjData* d);
  bool take_full(double h, mjData* d);
  bool take_half(int half, double h, std::span<const double> guess, mjData* d);
  bool solve(mjData* d, const StepPart& part);
  AdvancePattern::Problem pattern_of(const mjData* d, const ContactReport& contacts) const;
  void measure(const mjData* d);
  bool check_time(double h, const mjData* d);
  bool tighten_if_needed(double h);
  void accept(double h, mjData* d);
  void finish_anchors(const mjData* d);
  void sense_end(mjData* d);

  // Of the call.
  StepContext* context_ = nullptr;
  AdvanceSettings* settings_ = nullptr;
  ContactStep* step_ = nullptr;
  AdvanceOptions options_;
  AdvanceControl control_;
  AdvanceNorm norm_;
  bool has_sensors_ = false;
  bool shares_forces_ = true;     // the step and its first half have the same forces
  bool told_of_plugins_ = false;  // the warning of their state was given
  AdvanceHistory history_;
  AdvanceAverages averages_;
  StepStatistics sums_;
  StepTimings timings_;
  bool has_anchors_ = false;
  bool begins_anchors_ = false;
  int num_anchors_lost_ = 0, num_anchors_forgotten_ = 0;

  // The start of the step.
  std::vector<mjtNum> state_;
  std::vector<std::uint64_t> words_;
  LaggedImpulses lagged_impulses_;
  AnchorMemory anchors_;
  CallFindings findings_;
  std::vector<double> start_qvel_;
  bool has_geometry_ = false;  // data have the geometry of the start
  bool is_last_ = false;       // the step ends at the end of the call

  // The solutions.
  AdvancePattern start_pattern_, full_pattern_, half_patterns_[2];
  AdvanceExtrapolation extrapolation_;
  ContactReport full_contacts_;
  std::vector<double> full_qpos_, full_qvel_, full_act_;
  std::vector<double> half_qvel_[2];
  AdvanceAverages::Part halves_[2];
  AnchorSummary half_anchors_[2];
  std::vector<double> guess_;
  std::vector<double> dq_;     // q_2 minus q_f
  double velocity_bound_ = 0;  // the largest of the solves [m/s]
  double error_ = 0;           // [m]
  AdvanceExtrapolation::Velocities velocities() const {
    return {start_qvel_, full_qvel_, half_qvel_[0], half_qvel_[1]};
  }
};

}  // namespace stiction::sim
