#pragma once

#include <span>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Returns the mass that a contact on one of two bodies feels at most [kg], for
/// contact::BodyPair::masses; infinite if no dof moves the body.
///
/// A free body has its mass. The effective mass M_ii / r^2 of a joint grows without bound as the
/// lever arm r of the contact goes to 0, although no more than the mass m behind the joint pushes.
/// The joint therefore counts with the lever arm of this mass, which is its radius of gyration
/// about the joint, sqrt(I / m). Its mass is then m M_ii / I, which is m without armature. A body
/// on several joints has the largest mass of them. Servos and dampers do not count.
/// @param data after mj_makeM
/// @param dofs the dofs that move this body and not the other one, in ascending order
double calc_moved_mass(const mjModel* model, const mjData* data, std::span<const int> dofs);

}  // namespace stiction::plant
