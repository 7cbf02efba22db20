#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/collision/pair_contacts.hpp"

namespace stiction::plant {

/// Returns the distance of a convex geom from a plane, that of the geom's point which is farthest
/// against the plane's normal [m].
/// @param geom a geom that has_support_function
/// @param data after mj_kinematics
/// @param point out: this point, world frame; or null
double calc_plane_distance(const mjModel* model, const mjData* data, int plane, int geom,
                           double point[3]);

/// Corrects the contacts of a plane and a convex geom if they are wrong.
///
/// MuJoCo's formula for a plane and a cylinder takes the direction in which the cylinder leans from
/// the difference of two unit vectors, its axis and the plane's normal. For a cylinder that stands
/// upright up to an angle a, their rounding errors are a share of about 2e-16 / a of this
/// difference, and turn the direction towards the axis: at 1e-15 the points leave the rim by up to
/// the radius, into the plane or away from it. If the nearest contact has an error above
/// kRoundingOfCylinders, or a point is not on a rim, all contacts of the pair are computed anew, in
/// the cylinder's frame: the lowest point of the lower rim, the point above it on the upper rim,
/// and the two points of the lower rim 120 degrees beside it, as far as they are within the gap.
///
/// MuJoCo's other formulas for planes are right. If a contact of another geom should be deeper than
/// the exact distance, it gets this one; if all are less deep, the exact contact is added.
/// @param pair of a plane and a geom that has_support_function
/// @return true if they were wrong
bool correct_plane_contacts(const mjModel* model, mjData* data, const PairContacts& pair);

/// Adds contacts of planes and cylinders that overlap or are within their gap, where the same error
/// of MuJoCo's formula lifts the cylinder out of reach.
class MissedCylinders {
 public:
  /// Adds the contacts. Their distance is wrong; then call correct_plane_contacts. Call this inside
  /// a MuJoCoGuard.
  /// @param collided the model with which mj_collision was called, for these data
  void add(const mjModel* collided, mjData* data);

 private:
  // Copies of the data's arrays. They are members so that a step allocates no memory for them.
  std::vector<mjContact> contacts_;
  std::vector<mjtNum> geom_xmat_;
};

}  // namespace stiction::plant
