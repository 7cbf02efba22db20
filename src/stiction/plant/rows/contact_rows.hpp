#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {

/// Appends a pair of bodies A and B without contacts, which the caller appends next.
/// @param point a point near their contact, world frame [m]
/// @param half_gap BodyPair::half_gap
/// @param bodies A, B
/// @return false if no dof moves the bodies relative to each other; then nothing is added
bool add_body_pair(const mjModel* model, const mjData* data, const Model& plant,
                   const std::array<int, 2>& bodies, const double* point,
                   const std::array<double, 3>& half_gap, contact::ContactProblem* problem);

/// The contacts of data->contact that take part in a step, and the law of their normal forces.
struct ContactSelection {
  /// One flag per contact in data->contact, 1 if it takes part. If empty, all contacts within their
  /// gap or closer take part.
  std::span<const std::uint8_t> acts = {};
  contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley;  // see combine_materials
  const MocapMotion* mocap = nullptr;  // velocities of mocap bodies; null: they rest
};

/// Appends MuJoCo's contacts to the problem as body pairs and contacts. Contact::source is the
/// index in data->contact. Contact::id identifies the two geoms and the number of the point among
/// their contacts. Contacts that no dof moves are skipped.
/// @param data after mj_collision
void add_contacts(const mjModel* model, const mjData* data, const Model& plant,
                  const MaterialTable& materials, const ContactSelection& selection,
                  contact::ContactProblem* problem);

/// Sets a contact's law data, dimension, and coefficients of sliding, torsional and rolling
/// friction. The step and `explain` share these rules.
/// @param con MuJoCo's contact; only friction, dim and geoms are read
/// @param hertz_factor see combine_materials
/// @return the properties that the two materials combine to
PairProperties set_properties(const mjModel* model, const MaterialTable& materials,
                              const mjContact& con, contact::Contact* contact,
                              contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley,
                              double hertz_factor = kNaN);

}  // namespace stiction::plant
