#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "stiction/plant/materials.hpp"

namespace stiction::io {

/// A material of a contact properties file; absent values are NaN, false or empty.
struct NamedMaterial {
  std::string name;
  plant::Material values;
  std::string source;  // "pads.contact.yaml:3"
};

/// Which geoms get a material. Selectors, from the most to the least specific:
///
///     "left_pad"        the geom of that name
///     "finger::pad"     of that name; else `pad` of the body `finger`; else `pad`, if no other
///                       selector ends in "::pad"; else the one geom of the body that collides
///     "*_pad"           geoms whose name matches the glob (*, ?, [abc])
///     "body:finger_*"   all geoms of the bodies whose name matches
///     "class:pads"      geoms of the MJCF default class, and of classes nested in it
///     "*"               all geoms
///
/// The most specific selector decides, among equals the later one.
struct GeomRule {
  std::string selector;
  std::string material;
  std::string source;
};

/// The content of a contact properties file.
struct ContactProperties {
  std::string origin;  // name of the file, or of the argument it came from
  std::vector<NamedMaterial> materials;
  std::vector<GeomRule> rules;
  /// Ids of the geoms of each default class, or of a URDF's collisions as `finger::#2`: a compiled
  /// model does not know them. Filled by resolve_classes, or from the content itself.
  std::map<std::string, std::vector<int>> classes;
  std::vector<std::string> warnings;  // what was passed over, with file and line

  bool empty() const { return materials.empty() && rules.empty(); }
};

/// Reads a file: Drake's proximity properties of a .urdf or .sdf (drake_properties.hpp), else YAML
/// with `materials:`, by name, and `geoms:`, selectors with names of materials. SI units: stiffness
/// [N/m], hertz_stiffness [N/m^1.5] and barrier_stiffness [N/m] in (0, inf], barrier_thickness [m]
/// above 0; dissipation [s/m], relaxation_time [s] and friction [-] at least 0; of pressure-field
/// contact hydroelastic_modulus [Pa], resolution_hint [m] and slab_thickness [m] above 0, rigid,
/// and pressure_field, whose path is made absolute.
/// @throws Error with file and line: no such file, not YAML, or all faults of its content at once
ContactProperties read_contact_properties(const std::filesystem::path& path);

/// The same from a text.
/// @param origin    its name in messages
/// @param has_lines false if line numbers would mean nothing to the user
/// @param folder    which relative paths start from; empty is the working directory
ContactProperties parse_contact_properties(const std::string& text, const std::string& origin,
                                           bool has_lines = true,
                                           const std::filesystem::path& folder = {});

}  // namespace stiction::io
