#pragma once

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// True for spheres, capsules, ellipsoids, cylinders, boxes and meshes. A mesh stands for its
/// convex hull.
bool has_support_function(const mjModel* model, int geom);

/// Returns the largest coordinate of a geom along a direction, h(n) = max_x n . x [m].
/// @param geom a geom that has_support_function
/// @param n unit vector, world frame
/// @param data after mj_kinematics
double calc_support(const mjModel* model, const mjData* data, int geom, const double n[3]);

/// Finds a point of a geom whose coordinate along a direction is the largest.
/// @param geom a geom that has_support_function
/// @param n unit vector, world frame
/// @param data after mj_kinematics
/// @param point out, world frame
void find_support_point(const mjModel* model, const mjData* data, int geom, const double n[3],
                        double point[3]);

/// Returns the separation of two geoms along a direction from A to B [m]: the gap between their
/// supporting planes, negative if they overlap along n. No direction gives more than the signed
/// distance of two convex geoms, and the normal at their nearest points gives just that.
double calc_separation(const mjModel* model, const mjData* data, int geom_A, int geom_B,
                       const double n[3]);

}  // namespace stiction::plant
