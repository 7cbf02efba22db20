#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/islands.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/sim/advance/advance_pattern.hpp"
#include "stiction/sim/sleep/tree_groups.hpp"

namespace stiction::sim {

/// Local extrapolation. A step of h ends at x_f, two of h/2 at x_2, and both have an error of first
/// order, so that 2 x_2 - x_f has one of second order where motion is smooth. At an impact it
/// would throw bodies, because the velocities differ by as much as the impact changes them, for any
/// h. So each island is extrapolated only if one of these holds:
///
///  1. The contacts that push are the same at the start, in x_f, and in both halves, and so are
///     those that slip in x_f and in both halves.
///  2. The velocities of x_f and x_2 differ by at most a tenth of their way, in the norm of levers.
///
/// Source: [theory:error-control].
class AdvanceExtrapolation {
 public:
  /// The velocities of a step, in MuJoCo's dofs, size nv.
  struct Velocities {
    std::span<const double> start, full, first, second;
  };

  /// Begins a step.
  void start(const mjModel* model);
  /// Joins the trees of each island of a solve.
  void join(const mjModel* model, const plant::Model& plant, const contact::Islands& islands);
  /// Notes the trees at which the patterns of a step differ.
  /// @param start, full of the start and of x_f
  /// @param halves of both halves
  void compare(const AdvancePattern& start, const AdvancePattern& full,
               std::span<const AdvancePattern, 2> halves);

  /// Chooses the islands that are extrapolated, by their dofs.
  /// @return true if all are
  bool choose(const mjModel* model, const Velocities& v, std::span<const double> levers);

  /// Replaces x_2 in data by the extrapolated state in the islands that are chosen, and in
  /// activations that are not clamped.
  /// @param dq       q_2 minus q_f by mj_differentiatePos, size nv; it is overwritten
  /// @param full_act activations of x_f
  void apply(const mjModel* model, mjData* data, std::span<double> dq, const Velocities& v,
             std::span<const double> full_act) const;

 private:
  TreeGroups groups_;
  std::vector<char> has_changed_;    // per tree
  std::vector<char> group_changed_;  // per tree that names a group
  std::vector<double> gap_, way_;    // of velocities, per group [m/s]
  std::vector<char> is_chosen_;      // per dof
};

}  // namespace stiction::sim
