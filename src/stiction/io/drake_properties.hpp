#pragma once

#include <filesystem>
#include <string>

#include "stiction/io/contact_properties.hpp"

namespace stiction::io {

/// Reads Drake's proximity properties of a URDF (.urdf) or SDF (.sdf) file: a material and a rule
/// for each <collision> with <drake:proximity_properties>.
///
///     drake:compliant_hydroelastic   a compliant surface
///     drake:rigid_hydroelastic       rigid: true
///     drake:hydroelastic_modulus     hydroelastic_modulus [Pa], where compliant; 1e7 if absent
///     drake:mesh_resolution_hint     resolution_hint [m]
///     drake:hunt_crossley_dissipation  dissipation [s/m]
///     drake:relaxation_time          relaxation_time [s]
///     drake:point_contact_stiffness  stiffness [N/m]
///     drake:mu_dynamic               friction; drake:mu_static only where there is no mu_dynamic
///
/// A compliant mesh that is a .vtk file is the pressure_field. Collision `pad` of link `finger` has
/// the material and the selector `finger::pad`. Where other links have a `pad` as well, or it has
/// no name, it is of a URDF `class:finger::#2`, found by resolve_classes in that same file, and of
/// an SDF `body:finger`, if the link has several collisions and all of them the same properties.
///
/// What Drake takes and this library does not is in `warnings`. Numbers are a URDF's `value`
/// attributes and an SDF's texts. <include> is not followed.
/// Source: Drake's documentation of its tags, "Custom tags, attributes and elements".
/// @throws Error with file and line: no such file, no XML, all faults of its content at once
ContactProperties read_drake_properties(const std::filesystem::path& path);

/// The same from a text.
/// @param is_urdf else it is SDF
/// @param folder  which the paths of meshes start from
ContactProperties parse_drake_properties(const std::string& text, const std::string& origin,
                                         bool is_urdf, const std::filesystem::path& folder = {});

}  // namespace stiction::io
