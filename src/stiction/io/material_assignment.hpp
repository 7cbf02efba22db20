#pragma once

#include <filesystem>

#include <mujoco/mujoco.h>

#include "stiction/io/contact_properties.hpp"

namespace stiction::io {

/// Fills properties->classes for its `class:` selectors from the scene's file; does nothing if
/// there are none.
/// @param scene MJCF or URDF (.urdf) file of the model
/// @throws Error if MuJoCo cannot load it
void resolve_classes(const std::filesystem::path& scene, ContactProperties* properties);

/// The properties of every geom of a model, with their sources. A geom without a name counts as one
/// with the empty name: `*` selects it, as do its body and its class.
/// A material's pressure_field is read: a field of extents, or by the distance to the boundary if
/// there is none, times its hydroelastic_modulus; or a pressure, whose largest value is the
/// modulus.
/// @throws Error listing every selector that selects nothing, with the nearest name; or every
///         pressure field that cannot be read, is no sound mesh, or has not one of
///         pressure and modulus
plant::MaterialTable assign_materials(const mjModel* model, const ContactProperties& properties);

}  // namespace stiction::io
