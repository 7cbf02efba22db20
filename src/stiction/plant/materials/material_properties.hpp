#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stiction/contact/normal_laws.hpp"
#include "stiction/plant/materials/materials.hpp"

/// The table of surface properties: the name and range of each property, and the rule that combines
/// the values of two surfaces. The table defines the keys of property files, the materials of
/// geoms, the properties of contacts, the output of `explain`, and the warnings about values
/// without effect.
namespace stiction::plant {

/// The groups of properties. If a contact model does not read a value, the warning names the
/// properties of the same group that the model does read.
enum class PropertyGroup { stiffness, dissipation, friction, pressure_field };

/// The range of a property. All values are at least 0.
struct PropertyRange {
  bool is_positive = false;
  bool may_be_infinite = false;
  double most = contact::kInfinity;              // of finite values
  std::string_view infinity = "for near-rigid";  // the meaning of an infinite value
  std::string_view hint = {};                    // added to describe_range
};

/// A property: one row of the table.
struct MaterialProperty {
  std::string_view name;       // name in files and reports
  std::string_view unit = {};  // SI; empty if the property has no unit
  PropertyGroup group;
  PropertyRange range = {};

  // The members that hold the value and its source. A property of contacts has the member of the
  // same name in ContactLawData. A property of surfaces alone has members of its own.
  int law_property = -1;  // index in contact::kLawProperties; set by the table; -1: own members
  double Material::*own_value = nullptr;
  std::string MaterialSource::*own_source = nullptr;

  /// The value of a surface whose material gives none. NaN if there is no default, or if the
  /// default belongs to the normal law.
  double default_value = kNaN;
  double contact::NormalLawTraits::*law_default = nullptr;  // the normal law's default, or null

  /// The rule of `combine` in words, for `explain`.
  std::string_view rule = {};
  /// Combines the values of two surfaces.
  /// @param share the first surface's share of the compression, in [0, 1]
  double (*combine)(double value1, double value2, double share) = nullptr;
  /// Computes the first surface's share of the compression; null unless the property is a
  /// stiffness.
  double (*find_share)(double stiffness1, double stiffness2) = nullptr;
  /// The name in `explain` of a mean that is weighted by this share; for stiffnesses only.
  std::string_view mean_rule = {};

  /// True if `explain` shows the property for every pair. It shows other properties if a material
  /// gives them or the contact model reads them.
  bool is_always_shown = false;
  std::string_view note = {};              // note in `explain`
  std::string_view note_if_infinite = {};  // note in `explain` for an infinite value

  /// The value of the property in a material, and its source.
  double& value(Material& m) const;
  double value(const Material& m) const;
  std::string& source(MaterialSource& s) const;
  const std::string& source(const MaterialSource& s) const;
};

/// All properties that are numbers, in the order of reports. A material also has the properties
/// `rigid` and `pressure_field`, which are not numbers.
std::span<const MaterialProperty> material_properties();
/// The properties of contacts: the members of ContactLawData.
std::span<const MaterialProperty> law_properties();

/// Finds a property by its name; null if no property has it.
const MaterialProperty* find_material_property(std::string_view name);
/// Returns the value of a surface, or the normal law's default if the surface gives none.
double find_value(const MaterialProperty& property, const Material& material,
                  contact::NormalLawKind law);
/// True if a property may have this value.
bool is_in_range(const MaterialProperty& property, double value);
/// Describes the values in range: "a number above 0 in N/m, or .inf for near-rigid".
std::string describe_range(const MaterialProperty& property);

/// Returns the stiffness that defines the compressions of the two surfaces under a normal law. The
/// compressions determine the weights of dissipation and the contact point.
const MaterialProperty& find_stiffness(contact::NormalLawKind law);

/// Combines the properties of two surfaces into those of their contact, each by its rule.
/// @param share the first surface's share of the compression, in [0, 1]
contact::ContactLawData<double> combine_law_data(const Material& first, const Material& second,
                                                 contact::NormalLawKind law, double share);
/// Returns the harmonic mean of two friction coefficients [-].
double combine_friction(double mu1, double mu2);

}  // namespace stiction::plant
