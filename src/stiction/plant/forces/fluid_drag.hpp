#pragma once

#include <array>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// A damper of a body in the surrounding fluid: the force -d (a V) a^T on the body's velocity V.
struct FluidDrag {
  int body = 0;
  double damping = 0;          // d > 0 [N s/m, N m s]
  std::array<double, 6> axis;  // a, on the velocity in data->cvel: angular, then linear
};

/// Computes the dampers of MuJoCo's fluid forces at the present velocity: the derivatives of
/// viscous and quadratic drag with respect to velocity, of the model of inertia boxes and of the
/// model of ellipsoids. The second model also has lift, the Magnus force and the added mass. They
/// do no work, or store energy, so they have no damper; their small part is the change of the
/// projected area with the direction of the velocity.
/// @param data after mj_fwdVelocity
/// @param drags out; cleared first
void calc_fluid_drags(const mjModel* model, const mjData* data, std::vector<FluidDrag>* drags);

}  // namespace stiction::plant
