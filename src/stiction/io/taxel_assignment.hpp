#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/io/contact_properties.hpp"

namespace stiction::io {

/// Returns the grids of taxels that contact properties declare, with the ids of their geoms, for
/// sim::Stepper::set_taxels.
/// @throws Error listing every grid whose geom does not exist, with the nearest name, and every
/// grid
///         that has the name of a tactile sensor of the model
std::vector<plant::TaxelGrid> assign_taxels(const mjModel* model,
                                            const ContactProperties& properties);

}  // namespace stiction::io
