#pragma once

#include <filesystem>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/io/contact_properties.hpp"

namespace stiction::io {

/// Fills properties->classes from the scene's file if the properties have `class:` selectors.
/// @param scene MJCF or URDF (.urdf) file of the model
/// @throws Error if MuJoCo cannot load it
void resolve_classes(const std::filesystem::path& scene, ContactProperties* properties);

/// Returns the properties of every geom of a model, with their sources. A geom without a name can
/// be selected by `*`, by its body and by its class.
///
/// Also reads the pressure fields of materials. If the file has pressures, their largest value is
/// the hydroelastic_modulus. If it has extents, the pressure is the extent times the modulus. If it
/// has no field, the extent is computed from the distance to the boundary.
/// @throws Error listing every selector that selects nothing, with the nearest name; or listing
///         every pressure field that cannot be read, whose mesh is invalid, or that has both a
///         pressure and a modulus or neither of them
plant::MaterialTable assign_materials(const mjModel* model, const ContactProperties& properties);

/// Returns the grids of taxels that contact properties declare, with the ids of their geoms, for
/// sim::Stepper::set_taxels.
/// @throws Error listing every grid whose geom does not exist, with the nearest name, and every
/// grid
///         that has the name of a tactile sensor of the model
std::vector<plant::TaxelGrid> assign_taxels(const mjModel* model,
                                            const ContactProperties& properties);

}  // namespace stiction::io
