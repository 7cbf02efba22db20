#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"

namespace stiction::sim {

/// Adapts the contacts of a step that is divided at contact events.
class DividedContacts {
 public:
  /// Stores the change of velocity by the smooth forces over the whole step. These forces act in
  /// the first part. The later parts need the change to distinguish impacts from resting contacts.
  void keep_forced_change(const mjModel* model, const mjData* data);

  /// Removes the gap of contacts that touch, because this part starts when they touch. Removes the
  /// restitution of contacts that close no faster than smooth forces could make them close in two
  /// steps; contact::is_impact does the same for undivided steps.
  /// @param mocap velocities of mocap bodies
  void adapt(const mjModel* model, const mjData* data, const plant::MocapMotion& mocap,
             contact::ContactProblem* problem);

 private:
  std::vector<double> forced_change_;  // change of qvel by smooth forces, size nv
  plant::BodyVelocities start_, forced_;
};

}  // namespace stiction::sim
