#pragma once

#include <cstdint>
#include <span>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/materials.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {

/// Starts a pair of bodies A and B, whose contacts are to follow.
/// @param point near their contact, world [m]
/// @return false if no dof moves them relatively; then nothing is added
bool add_body_pair(const mjModel* model, const mjData* data, const Model& plant, int body_A,
                   int body_B, const double* point, contact::ContactProblem* problem);

/// Appends MuJoCo's contacts to the problem as body pairs and contacts; Contact::source is the
/// index in data->contact, Contact::id a number of the two geoms and of the point's turn among
/// theirs. Those that no dof moves are left out.
/// @param data after mj_collision
/// @param acts of each contact in data->contact, 1 if it is to be in the problem; empty: all that
///     MuJoCo does not exclude for good
/// @param law  of the contacts, see combine_materials
void add_contacts(const mjModel* model, const mjData* data, const Model& plant,
                  const MaterialTable& materials, std::span<const std::uint8_t> acts,
                  contact::ContactProblem* problem,
                  contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley);

/// Sets a contact's stiffnesses, dissipation, relaxation time, barrier thickness, restitution,
/// dimension and friction of all kinds: the step's own rules, for `explain` as well.
/// @param con MuJoCo's contact, of which friction, dim and geoms are read
PairProperties set_properties(const mjModel* model, const MaterialTable& materials,
                              const mjContact& con, contact::Contact* contact,
                              contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley);

}  // namespace stiction::plant
