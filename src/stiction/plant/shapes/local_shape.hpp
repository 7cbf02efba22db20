#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The shape of a geom's surface near a contact, in the contact's tangent plane. Along flat
/// directions the normal does not change as the contact moves. In the other directions the contact
/// moves by R times the change of the normal. R holds the radii of curvature. It is the Hessian of
/// the support function and 0 at corners.
struct LocalShape {
  int num_flat = 0;        // number of flat directions: 0, 1 or 2
  double flat[2][3] = {};  // unit vectors in the tangent plane; two need not be orthogonal
  double R[9] = {};        // [m], symmetric, row-major, world frame; 0 along n and along `flat`
};

/// Finds the shape of a geom near a point with a given normal. For an edge or a face of a mesh it
/// searches all vertices of the mesh. A height field is treated as flat.
/// @param data   after mj_kinematics
/// @param point  on the geom's surface, world [m]
/// @param normal unit, out of the geom, world
/// @param tolerance a normal within this angle of the normals of a face or an edge belongs to it
/// [rad]
LocalShape find_local_shape(const mjModel* model, const mjData* data, int geom,
                            const double point[3], const double normal[3], double tolerance = 1e-5);

}  // namespace stiction::plant
