#pragma once

#include <optional>

#include <mujoco/mujoco.h>

#include "stiction/sim/options/step_options.hpp"

namespace stiction::sim {

/// The arguments of Stepper::advance.
struct AdvanceOptions {
  /// The time at which the call ends [s]; not before that of the data.
  double until = 0;
  /// The largest error of a step [m], see AdvanceNorm.
  double accuracy = 1e-4;
  /// The largest step [s], at least AdvanceControl::kLeastStep; empty: the whole call.
  std::optional<double> max_time_step = std::nullopt;
  /// The length of the first step [s], > 0; empty: that which the last call proposed, or 1 ms.
  std::optional<double> first_step = std::nullopt;
  /// The error of the step before, relative to the accuracy, in (0, 1]; the controller reads it.
  /// Empty: that of the last call, or 1.
  std::optional<double> last_error = std::nullopt;
  /// True to end a step with the extrapolated state where motion is smooth, see
  /// AdvanceExtrapolation. False: every state is the solution of a contact problem, and has its
  /// certificate.
  bool extrapolate = true;
};

/// The smallest accuracy [m]. The velocities of a step are certified to about 1e-3 m/s at worst,
/// and the least step is 1e-7 s long, so that errors below ten times the product of both are those
/// of the solver.
inline constexpr double kLeastAccuracy = 1e-9;

/// True if a simulator with a contact model can advance with error control: if steps of any lengths
/// approximate the same motion.
bool can_advance(const contact::ContactModelTraits& model);

/// Checks that a simulator can advance with error control.
/// @throws Error naming the contact model or the integrator that does not fit, and those that do
void check_can_advance(const StepOptions& options);

/// Checks the arguments of Stepper::advance.
/// @throws Error naming the argument, its value and its range
void check_advance(const AdvanceOptions& options, const mjData* data);

}  // namespace stiction::sim
