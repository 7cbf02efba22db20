#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stiction/contact/law_tables.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/patches/taxel_sensors.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::io {

/// A material of a contact properties file; absent values are NaN, false or empty.
struct NamedMaterial {
  std::string name;
  plant::Material values;
  std::string source;  // "pads.contact.yaml:3"
};

/// The rule that assigns a material to geoms. These are the selectors, from the most to the least
/// specific:
///
///     "left_pad"        the geom of this name
///     "finger::pad"     the geom of this name; otherwise the geom `pad` of the body `finger`;
///                       otherwise the geom `pad`, if no other selector ends in "::pad"; otherwise
///                       the only geom of the body that collides
///     "*_pad"           the geoms whose names match the glob (*, ?, [abc])
///     "body:finger_*"   all geoms of the bodies whose names match
///     "class:pads"      the geoms of the MJCF default class and of the classes nested in it
///     "*"               all geoms
///
/// The most specific selector decides. If several are equally specific, the last one decides.
struct GeomRule {
  std::string selector;
  std::string material;
  std::string source;
};

/// A grid of taxels on a geom, before the geom's id is known.
struct TaxelDeclaration {
  std::string source;  // "pads.contact.yaml:7"
  std::string geom;    // its name, or `#` and its id
  plant::TaxelGrid grid;
};

/// The content of a contact properties file.
struct ContactProperties {
  std::string origin;  // name of the file, or of the argument it came from
  std::vector<NamedMaterial> materials;
  std::vector<GeomRule> rules;
  /// The ids of the geoms of each default class, or of each collision of a URDF (`finger::#2`), as
  /// resolve_classes or the file gives them.
  std::map<std::string, std::vector<int>> classes;
  std::vector<TaxelDeclaration> taxels;
  std::vector<std::string> warnings;  // entries that were ignored, with file and line
  // Laws for all contacts, as tables; see apply_laws.
  std::optional<contact::NormalLawTable> normal_law;
  std::optional<contact::FrictionLawTable> friction_law;

  bool empty() const {
    return materials.empty() && rules.empty() && taxels.empty() && !normal_law && !friction_law;
  }
};

/// Reads a file. A .urdf or .sdf file has Drake's proximity properties (drake_properties.hpp). Any
/// other file is YAML with the sections `materials:`, which maps names to properties, and `geoms:`,
/// which maps selectors to names of materials, `taxels:`, which maps names of sensors to grids of
/// taxels on a geom, and laws as tables in `normal_law:` and
/// `friction_law:`, with the members of the tables as keys. plant::material_properties lists the
/// properties with their units and ranges. Besides them a material may have `rigid`, `compliant`
/// and `pressure_field`, whose path is made absolute.
/// @throws Error with file and line if the file does not exist or is not YAML, or with all
///         faults of its content at once
ContactProperties read_contact_properties(const std::filesystem::path& path);

/// Reads the text of a YAML file.
/// @param origin    name of the text in messages
/// @param has_lines false if messages must not have line numbers
/// @param folder    folder from which relative paths start; empty: the working directory
ContactProperties parse_contact_properties(const std::string& text, const std::string& origin,
                                           bool has_lines = true,
                                           const std::filesystem::path& folder = {});

/// Sets the laws of the options to the tables, unless an option names another than the default.
void apply_laws(const ContactProperties& properties, sim::StepOptions* options);

}  // namespace stiction::io
