#pragma once

#include <cstdint>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/mocap_motion.hpp"

namespace stiction::sim {

/// The mocap bodies whose motion leaves a step of a rigid model without a solution. Such a body
/// first yields: it closes no contact any more, but still drags along what it touches. If that is
/// not enough, it rests in this step.
class MocapJams {
 public:
  /// Notes that no velocities satisfy the constraints of a body. If a moving mocap body carries it,
  /// that is to blame.
  void blame(const mjModel* model, const plant::MocapMotion& motion, int body);
  /// Lets the mocap bodies that are to blame yield or rest, and forgets them.
  /// @param may_yield false if bodies that yield would pass into others within the step
  /// @return false if there are none
  bool give_way(bool may_yield, plant::MocapMotion* motion);

 private:
  std::vector<std::uint8_t> is_blamed_;  // of each mocap body
};

}  // namespace stiction::sim
