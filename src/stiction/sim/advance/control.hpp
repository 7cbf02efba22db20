#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::sim {

/// Chooses the lengths of steps from their errors by a PI controller. Errors are relative to the
/// accuracy. Source: [theory:error-control].
class AdvanceControl {
 public:
  static constexpr double kLeastStep = 1e-7;  // [s]
  static constexpr double kFirstStep = 1e-3;  // [s]
  /// Smaller errors count as this one, so that a step at rest does not make the next one too long.
  static constexpr double kLeastError = 1e-3;  // [-]

  /// Begins with the length of the next step [s] and the error of the last one.
  void start(double next_step, double last_error);

  /// Returns the length of the next step [s]. A step that would leave less than its own length is
  /// replaced by two equal ones, so that no sliver is left.
  /// It exceeds max_step by rounding at most.
  /// @param left     the time that is left [s]
  /// @param max_step [s]
  double choose(double left, double max_step) const;

  /// Records a step of length h that was accepted.
  void accept(double h, double error);
  /// Records a step of length h whose error is too large. The error may be NaN or infinite.
  void reject(double h, double error);
  /// Records a step of length h that the solver failed to solve.
  void fail(double h);

  double next_step() const { return next_step_; }
  double last_error() const { return last_error_; }

 private:
  double next_step_ = kFirstStep;
  double last_error_ = 1;
};

/// The distance of two states in metres: the largest w_i |q_a - q_b|_i over all dofs and
/// activations. It bounds, within a factor of sqrt(3), how far any point of any geom is from its
/// place in the other state. Velocities are not part of it. Source: [theory:error-control].
///
/// The lever w of a dof is 1 for translations. For rotations it is the largest distance from the
/// joint to a point of a geom or to a center of mass that the joint carries, in any pose, and at
/// least 1 mm. That of an activation is the range of the actuator's length per unit of activation
/// if the model knows it, otherwise the model's extent over max(1, |activation|) [m].
class AdvanceNorm {
 public:
  /// Computes the levers.
  void start(const mjModel* model);

  /// Returns the distance of two states [m]; not finite if one of them is not.
  /// @param dq      difference of positions, mj_differentiatePos, size nv
  /// @param act_a, act_b activations, size na
  double calc(const mjModel* model, std::span<const double> dq, std::span<const double> act_a,
              std::span<const double> act_b) const;

  /// The levers of the dofs, size nv [m per unit].
  std::span<const double> levers() const { return levers_; }

 private:
  std::vector<double> levers_;
  std::vector<double> reach_;      // of each body's subtree, from the body's origin [m]
  std::vector<double> act_range_;  // metres per unit of activation; 0: not known
};

}  // namespace stiction::sim
