#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/materials.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {

/// Appends MuJoCo's active contacts to the problem as body pairs and contacts; Contact::source is
/// the index in data->contact. Contacts within the gap, and those that no dof moves, are left out.
/// @param data after mj_collision
void add_contacts(const mjModel* model, const mjData* data, const Model& plant,
                  const MaterialTable& materials, contact::ContactProblem* problem);

/// Sets a contact's stiffness, dissipation, relaxation time, dimension and friction: the step's own
/// rules, for `explain` as well.
/// @param con MuJoCo's contact, of which friction, dim and geoms are read
PairProperties set_properties(const mjModel* model, const MaterialTable& materials,
                              const mjContact& con, contact::Contact* contact);

}  // namespace stiction::plant
