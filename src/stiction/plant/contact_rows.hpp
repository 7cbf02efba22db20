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

}  // namespace stiction::plant
