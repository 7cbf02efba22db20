#pragma once

#include <vector>

#include "stiction/sim/integrators/event_step.hpp"
#include "stiction/sim/integrators/step_parts.hpp"
#include "stiction/sim/integrators/viscous_motion.hpp"

namespace stiction::sim {

/// The classical Runge-Kutta method of order 4 for `viscous`, between impacts. Source:
/// [drumwright2015].
///
///  1. Solve the impacts of contacts that touch and close.
///  2. Take the four stages of Runge and Kutta over the rest of the step. Each finds the sustained
///     contacts and solves for accelerations.
///  3. If a stage or the end has no accelerations, or has an overlap that did not exist in step 1,
///     halve the part and try again from step 1. If the part gets shorter than kMinPart, take a
///     part of semi-implicit Euler with events to pass the obstacle.
///  4. Continue with the rest of the time step, from step 1.
///
/// Rotations are integrated in the logarithm of the rotation since the part's start:
/// u-dot = w + 1/2 u x w + 1/12 u x (u x w), with w in the body. Source: [munthekaas1998].
class Rk4Step {
 public:
  static constexpr double kMinPart = 1e-5;   // [s]
  static constexpr double kMinShare = 1e-3;  // of the step; bounds the number of parts

  Rk4Step(const StepInputs& in, StepModels* models, StepMemories* memories, StepOutputs* out);

  /// Takes a step. If it fails, the state stays as it was.
  void take(const StepInputs& in, mjData* d);
  /// Computes the accelerations, forces and sensors at the start of a step, after impacts. The
  /// state stays as it was.
  void forward(const StepInputs& in, mjData* d);
  /// See ContactStep.
  void follow_model(const StepInputs& in) { event_step_.follow_model(in); }

 private:
  bool start_part(const StepInputs& in, mjData* d, bool senses);
  double take_part(const StepInputs& in, mjData* d, double taken, double limit);
  bool try_part(const StepInputs& in, mjData* d, double duration, bool senses);
  void place(const StepInputs& in, mjData* d, const std::vector<double>& displacement,
             const std::vector<double>& change, double duration);
  void add_turn(const mjModel* m, const std::vector<double>& displacement,
                std::vector<double>* rate) const;

  StepModels& models_;
  StepOutputs& out_;
  ViscousMotion motion_;
  EventStep event_step_;
  WholeStep step_;
  double blocked_ = 0;        // earliest end of a part that failed, since the step's start [s]
  bool is_at_start_ = false;  // data holds the part's initial state
  KeptState start_;           // the part's initial state, after impacts
  std::vector<double> displacement_;         // change of position from start_ to a stage, in dofs
  std::vector<double> change_;               // change of velocity from start_ to a stage
  std::vector<double> rate_;                 // rate of displacement_ at a stage
  std::vector<double> qacc_;                 // accelerations at a stage
  std::vector<double> sum_rate_, sum_qacc_;  // weighted sums over the stages
};

}  // namespace stiction::sim
