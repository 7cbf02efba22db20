#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// What a geom's surface is like about a contact, in the contact's tangent plane: along some
/// directions it is flat, so that its normal stays as the contact moves along it; along the others
/// the contact moves by the matrix R times the turn of the normal. R holds the radii of curvature:
/// it is the Hessian of the support function, 0 at corners.
struct LocalShape {
  int num_flat = 0;        // 0, 1 or 2
  double flat[2][3] = {};  // unit, tangential; not orthogonal to each other only if both are given
  double R[9] = {};        // [m], symmetric, row-major, world frame; zero along n and along flats
};

/// Of an edge or a face of a mesh all of its vertices are looked at; a height field is taken as
/// flat.
/// @param data   after mj_kinematics
/// @param point  on the geom's surface, world [m]
/// @param normal unit, out of the geom, world
LocalShape find_local_shape(const mjModel* model, const mjData* data, int geom,
                            const double point[3], const double normal[3]);

}  // namespace stiction::plant
