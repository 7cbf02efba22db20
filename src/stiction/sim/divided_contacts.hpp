#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/body_velocities.hpp"

namespace stiction::sim {

/// Adapts the contacts of a step that is divided at contact events.
class DividedContacts {
 public:
  /// Keeps the change of velocity that the smooth forces make in the whole step. The first part of
  /// the step has these forces; the later parts need their effect to tell impacts from rest.
  void keep_forced_change(const mjModel* model, const mjData* data);

  /// Removes the gap of contacts that touch, because the event that brought them together is this
  /// part's start. Removes the restitution of contacts that close no faster than the forces of two
  /// steps make them, which contact::is_impact does for undivided steps.
  void adapt(const mjModel* model, const mjData* data, contact::ContactProblem* problem);

 private:
  std::vector<double> forced_change_;  // of qvel, size nv
  plant::BodyVelocities start_, forced_;
};

}  // namespace stiction::sim
