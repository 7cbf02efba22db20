#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/sim/advance/averages.hpp"
#include "stiction/sim/advance/control.hpp"
#include "stiction/sim/advance/extrapolation.hpp"
#include "stiction/sim/integrators/contact_step.hpp"
#include "stiction/sim/report/step_report.hpp"
#include "stiction/sim/step/step_inputs.hpp"

namespace stiction::sim {

/// The buffers from which MuJoCo reads delayed controls and sensors, in a call of
/// Stepper::advance.
///
/// A buffer has a fixed number of samples, and each step of MuJoCo adds one. The half steps of
/// error control would soon push out the samples that a delay needs, and shorten the delay.
/// Controls are constant within a call, so a call adds one sample, at its start.
class DelayBuffers {
 public:
  /// Call it after each part of a step. Keeps the samples of the first part of the call, and undoes
  /// those of the others.
  /// @param is_first true if the part begins at the start of the call
  void end_part(const mjModel* model, mjData* data, bool is_first) {
    if (is_first)
      samples_.assign(data->history, data->history + model->nhistory);
    else
      mju_copy(data->history, samples_.data(), static_cast<int>(model->nhistory));
  }

 private:
  std::vector<mjtNum> samples_;  // after the first part of the call
};

/// A step of h, which ends at x_f, and two of h/2 from the same state, which end at x_2. The
/// distance of x_f and x_2 is the error. The step of h and the first half share the geometry of
/// their start, so that both find geometry twice and solve three contact problems.
/// Source: [theory:error-control].
///
/// All that follows from the time step follows from the simulator's own one, or steps of h and h/2
/// would solve different models: near-rigid stiffness, MuJoCo's refsafe, and the correction of
/// overlaps. The regularization sigma of friction is 0, so that creep is that of
/// stiction_tolerance at any length of the step.
class DoubledStep {
 public:
  /// The result of an attempt to take a step.
  enum class Result { kSolved, kUnsolved, kFatal };
  /// The work of all solves of a call.
  struct Work {
    StepStatistics statistics;
    StepTimings timings;
  };

  /// @param step must outlive this, like all others
  DoubledStep(const mjModel* model, ContactStep* step, StepModels* models, StepMemories* memories,
              StepOutputs* out);

  /// Begins a call.
  /// @param options  those of the stepper
  /// @param certifies_full false if x_f is no part of the result, so that it needs no certificate
  void begin_call(const mjModel* model, const StepOptions& options, bool certifies_full);
  /// The options of the parts. They change from part to part.
  const StepOptions& options() const { return options_; }
  /// Makes the tolerance of the solver ten times smaller, unless it is as small as it gets.
  void tighten();

  /// Begins a step from the state of data.
  /// @param is_first true for the first step of the call
  void begin(const StepInputs& in, mjData* d, bool is_first);
  /// Takes the step, and ends with x_2 in data.
  Result take(const StepInputs& in, double h, mjData* d);
  /// Begins the step again after an attempt.
  void begin_again(mjData* d);
  /// Replaces x_2 by the extrapolated state where motion is smooth; see AdvanceExtrapolation.
  /// @return false if an island is not extrapolated
  bool extrapolate(const StepInputs& in, mjData* d);

  /// The error of the last attempt [m]; NaN if it was not solved.
  double error() const { return error_; }
  /// The largest bound on the errors of velocities by the solver [m/s].
  double velocity_bound() const { return velocity_bound_; }
  const AdvanceAverages::Part& part(int half) const { return halves_[half].part; }
  const AnchorSummary& anchors(int half) const { return halves_[half].anchors; }
  /// True if contacts began without anchors in the first half step of the call.
  bool lacks_anchors() const { return lacks_anchors_; }
  const Work& work() const { return work_; }

 private:
  /// The start of the step.
  struct Start {
    explicit Start(const mjModel* m) : state(m) {}
    KeptState state;
    StepStart memories;
    CallFindings findings;
    AdvancePattern pattern;
    std::vector<double> qvel;
    bool is_first = false;      // of the call
    bool has_geometry = false;  // data have the geometry of the start
  };
  /// x_f.
  struct Full {
    AdvancePattern pattern;
    ContactReport contacts;
    std::vector<double> qpos, qvel, act;
  };
  /// The end of a half step.
  struct Half {
    AdvancePattern pattern;
    AdvanceAverages::Part part;
    AnchorSummary anchors;
    std::vector<double> qvel;
  };

  void set_time_step(double h);
  bool solve(const StepInputs& in, mjData* d, const StepPart& part);
  bool take_full(const StepInputs& in, double h, mjData* d);
  bool take_half(const StepInputs& in, int half, double h, std::span<const double> guess,
                 mjData* d);
  void measure(const mjModel* m, const mjData* d);

  ContactStep& step_;
  StepModels& models_;
  StepMemories& memories_;
  StepOutputs& out_;
  // The call.
  StepOptions options_;
  double gap_correction_ = 0;  // of a step of the reference length
  bool certifies_full_ = true;
  bool shares_forces_ = true;  // the step and its first half have the same forces
  bool lacks_anchors_ = false;
  AdvanceNorm norm_;
  DelayBuffers delays_;
  Work work_;
  // The step.
  Start start_;
  Full full_;
  Half halves_[2];
  AdvanceExtrapolation extrapolation_;
  std::vector<double> guess_;  // velocities from which the solver starts
  std::vector<double> dq_;     // q_2 minus q_f
  double velocity_bound_ = 0, error_ = 0;
};

}  // namespace stiction::sim
