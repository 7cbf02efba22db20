#pragma once

#include <array>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Returns a displacement of a mocap body as a share of the thickness of its geoms, measured along
/// the displacement of their corners; the largest share of all geoms that may collide. If there are
/// none, the thickness is the mean size of the model's bodies. Joints below the mocap body are in
/// their reference configuration, so that the share depends on poses only.
/// @param quat         orientation of the mocap body
/// @param displacement [rotation vector; translation]
double calc_mocap_share(const mjModel* model, int mocap, const double* quat,
                        const std::array<double, 6>& displacement);

}  // namespace stiction::plant
