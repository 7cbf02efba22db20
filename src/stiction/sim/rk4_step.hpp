#pragma once

#include <vector>

#include "stiction/sim/divided_step.hpp"
#include "stiction/sim/event_step.hpp"
#include "stiction/sim/viscous_motion.hpp"

namespace stiction::sim {

/// The classical method of order 4 for `viscous`, between impacts, after [drumwright2015]:
///
///  1. Impacts of what closes where it touches.
///  2. Runge and Kutta's four stages over the rest of the step. Each finds the contacts that are
///     sustained and solves for accelerations.
///  3. If a stage, or the end, finds an overlap that was not there at 1, or no accelerations: half
///     of that from 1 on. Below kMinPart a part of semi-implicit Euler with events goes past what
///     is in the way. Then what is left of the step, from 1.
///
/// Rotations are integrated in the logarithm of the turn from the part's start, by
/// [munthekaas1998]: u-dot = w + 1/2 u x w + 1/12 u x (u x w), w in the body.
class Rk4Step {
 public:
  static constexpr double kMinPart = 1e-5;   // [s]
  static constexpr double kMinShare = 1e-3;  // of a step, which bounds the number of its parts

  Rk4Step(const mjModel* model, const StepOptions& options, const plant::MaterialTable& materials);

  /// The state is as it was if the step failed.
  void take(StepContext& context, mjData* d);

 private:
  bool start_part(StepContext& context, mjData* d);
  double make_part(StepContext& context, mjData* d, double made, double limit);
  bool try_part(StepContext& context, mjData* d, double duration, bool senses);
  void place(StepContext& context, mjData* d, const std::vector<double>& way,
             const std::vector<double>& change, double duration);
  void add_turn(const mjModel* m, const std::vector<double>& way, std::vector<double>* rate) const;

  ViscousMotion motion_;
  EventStep event_step_;
  DividedStep step_;
  double blocked_ = 0;                // of the step, what no part in one could make so far [s]
  bool is_at_start_ = false;          // data is where the part starts
  double time_ = 0;                   // of the part's start
  std::vector<double> qpos_, qvel_;   // the same, after impacts
  std::vector<double> way_, change_;  // of a stage, from there
  std::vector<double> rate_, qacc_;   // of a stage
  std::vector<double> sum_rate_, sum_qacc_;  // weighted
};

}  // namespace stiction::sim
