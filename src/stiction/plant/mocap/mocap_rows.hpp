#pragma once

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/mocap_motion.hpp"

namespace stiction::plant {

/// Returns the part of the velocity of one of MuJoCo's rows that comes from moving mocap bodies
/// [m/s, rad/s]. The Jacobians of rows have no columns for them. It is 0 except for the rows of
/// connects and welds, and for those of spatial tendons: equalities, limits and dry friction.
/// @param data after mj_makeConstraint and mj_tendon
/// @param row  in data->efc_*
double calc_mocap_row_velocity(const mjModel* model, const mjData* data, const MocapMotion& mocap,
                               int row);

/// Returns the rate at which moving mocap bodies lengthen a tendon [m/s].
/// @param data after mj_tendon
double calc_mocap_tendon_velocity(const mjModel* model, const mjData* data,
                                  const MocapMotion& mocap, int tendon);

}  // namespace stiction::plant
