#pragma once

#include <filesystem>
#include <string>

#include "stiction/io/contact_properties.hpp"

namespace stiction::io {

/// Reads Drake's proximity properties of a URDF (.urdf) or SDF (.sdf) file. Each <collision> with
/// <drake:proximity_properties> gives a material and a rule.
///
///     drake:compliant_hydroelastic   a compliant surface
///     drake:rigid_hydroelastic       rigid: true
///     drake:hydroelastic_modulus     hydroelastic_modulus [Pa] of a compliant surface; 1e7 if
///     absent drake:mesh_resolution_hint     resolution_hint [m] drake:hunt_crossley_dissipation
///     dissipation [s/m] drake:relaxation_time          relaxation_time [s]
///     drake:point_contact_stiffness  stiffness [N/m]
///     drake:mu_dynamic               friction; drake:mu_static is used if mu_dynamic is absent
///     drake:mu_static                static_friction, if it differs from mu_dynamic
///
/// If the geometry of a compliant surface is a .vtk file, this file is the pressure_field. The
/// collision `pad` of the link `finger` gives the material and the selector `finger::pad`. There
/// are other selectors if another link has a `pad` too, or if the collision has no name:
///
///  - In a URDF it is `class:finger::#2`, which resolve_classes finds in the same file.
///  - In an SDF it is `body:finger`, if the link has several collisions with the same properties.
///
/// Properties that only Drake supports are listed in `warnings`. Numbers are `value` attributes in
/// a URDF and texts of elements in an SDF. <include> is not followed. Source: Drake's documentation
/// of its tags, "Custom tags, attributes and elements".
/// @throws Error with file and line if the file does not exist or is not XML, or with all faults of
///         its content at once
ContactProperties read_drake_properties(const std::filesystem::path& path);

/// Reads the text of a URDF or SDF file.
/// @param is_urdf true for URDF, false for SDF
/// @param folder  folder from which relative paths of meshes start
ContactProperties parse_drake_properties(const std::string& text, const std::string& origin,
                                         bool is_urdf, const std::filesystem::path& folder = {});

}  // namespace stiction::io
