#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/forces/fluid_drag.hpp"
#include "stiction/plant/forces/servo_limits.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {

/// Linearizes MuJoCo's smooth forces, so that the step can treat their restoring and dissipative
/// parts implicitly.
///
/// At the start of the step, f(q0 + dt v, v) = f0 - dt K v - D (v - v0), so that
///
///     A = M + dt D + dt^2 K,   A (v* - v0) = dt (f0 - dt K v0).
///
/// Joint springs and dampers give diagonal entries of K and D. Tendon springs and dampers, and the
/// position and velocity terms of affine actuators, give rank-one terms j^T j. So do muscles, DC
/// motors and the drag of a fluid, whose damping is that of MuJoCo's implicitfast. Derivatives that
/// destabilize are dropped, so A stays positive definite. A servo whose force reaches a limit
/// within the step is a row of the problem, see ServoLimits.
class ImplicitForces {
 public:
  /// A term s j^T j of A with s = dt d + dt^2 k. With limits it is a row of the problem.
  struct RankOne {
    double stiffness = 0;       // k >= 0
    double damping = 0;         // d >= 0
    double velocity = 0;        // j v0
    int first = 0, size = 0;    // range of j in dofs() and values()
    bool joins_blocks = false;  // true if j has dofs of blocks that M does not couple
    int limit = -1;             // index in limits().limited(); -1 if the force has no limits
  };

  /// @param limits_act false if a servo that a limit holds at the start of the step is explicit,
  ///     and all others have no limit
  explicit ImplicitForces(bool limits_act = true) : limits_(limits_act) {}

  /// Removes all forces, so that A is M.
  void clear(int num_dofs);
  /// Starts a step. Call it before the first calc of a step.
  void start(const mjModel* model) { limits_.start(model); }
  /// Computes the derivatives of the forces on awake trees.
  /// @param data after mj_fwdActuation
  void calc(const mjModel* model, const mjData* data, const Model& plant);

  /// Computes dt K v, the smooth forces that keep the velocities v constant: v* = v.
  /// @param qvel, force size num_dofs; force is written
  void calc_balancing_forces(const double* qvel, double dt, int num_dofs, double* force) const;

  /// Finds the limits of servos that the velocities reach, and that calc took for far away.
  /// @param qvel velocities at the end of the step, size nv
  /// @return true if there are any; call calc again
  bool add_reached_limits(double dt, std::span<const double> qvel) {
    return limits_.add_reached(dt, qvel);
  }
  const ServoLimits& limits() const { return limits_; }

  const std::vector<double>& diagonal_damping() const { return damping_; }  // per dof
  const std::vector<double>& diagonal_stiffness() const { return stiffness_; }
  const std::vector<RankOne>& rank_one() const { return rank_one_; }
  /// The dofs and values of the nonzeros of all j, one term after the other.
  const std::vector<int>& dofs() const { return dofs_; }
  const std::vector<double>& values() const { return values_; }
  std::span<const int> dofs_of(const RankOne& term) const {
    return std::span(dofs_).subspan(term.first, term.size);
  }
  std::span<const double> values_of(const RankOne& term) const {
    return std::span(values_).subspan(term.first, term.size);
  }
  int dof(int entry) const { return dofs_[entry]; }
  double value(int entry) const { return values_[entry]; }

 private:
  void calc_joints(const mjModel* m, const mjData* d, const Model& plant);
  void calc_tendons(const mjModel* m, const mjData* d, const Model& plant);
  void calc_fluid(const mjModel* m, const mjData* d, const Model& plant);
  void calc_actuators(const mjModel* m, const mjData* d, const Model& plant);
  void find_servos(const mjModel* m, const mjData* d, const Model& plant);
  void add_rank_one(const mjData* d, const Model& plant, double stiffness, double damping,
                    std::span<const int> dofs, std::span<const double> values);

  std::vector<double> damping_, stiffness_, values_;
  std::vector<int> dofs_;
  std::vector<FluidDrag> fluid_drags_;
  std::vector<double> fluid_row_;  // J of a damper
  std::vector<Servo> servos_;
  ServoLimits limits_;
  std::vector<RankOne> rank_one_;
};

}  // namespace stiction::plant
