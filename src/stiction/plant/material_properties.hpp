#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stiction/contact/normal_laws.hpp"
#include "stiction/plant/materials.hpp"

/// The properties of surfaces as a table: what each is called, what it may be, and how those of two
/// surfaces become one of their contact. From it come the keys of files, the materials of geoms,
/// the properties of contacts, what `explain` shows, and the warnings of values without effect.
namespace stiction::plant {

/// The groups of properties. The warning of a value that a contact model does not read names the
/// properties of the same group that the model reads.
enum class PropertyGroup { stiffness, dissipation, friction, pressure_field };

/// The values that a property may have, all at least 0.
struct PropertyRange {
  bool is_positive = false;
  bool may_be_infinite = false;
  double most = contact::kInfinity;
  std::string_view hint = {};  // what a message adds
};

struct MaterialProperty {
  std::string_view name;       // in files and reports
  std::string_view unit = {};  // SI; empty: none
  PropertyGroup group;
  PropertyRange range = {};

  // Where its value and the source of the value are: a property of contacts, which has its name in
  // ContactLawData, or one of surfaces alone.
  int law_property = -1;  // filled by the table
  double Material::*own_value = nullptr;
  std::string MaterialSource::*own_source = nullptr;

  /// The value of a surface that gives none; NaN: none, or the normal law's.
  double default_value = kNaN;
  double contact::NormalLawTraits::*law_default = nullptr;

  /// How two values become one, as `explain` says it.
  std::string_view rule = {};
  /// @param share the first surface's share of the compression, in [0, 1]
  double (*combine)(double value1, double value2, double share) = nullptr;
  /// Computes the first surface's share of the compression; null for all but stiffnesses.
  double (*find_share)(double stiffness1, double stiffness2) = nullptr;
  /// For stiffnesses: how `explain` calls a mean that is weighted by this share.
  std::string_view mean_rule = {};

  /// `explain` shows it for every pair; others if they are given, or read by the contact model.
  bool is_always_shown = false;
  std::string_view note = {};  // what `explain` adds
  std::string_view note_if_infinite = {};

  double& value(Material& m) const;
  double value(const Material& m) const;
  std::string& source(MaterialSource& s) const;
  const std::string& source(const MaterialSource& s) const;
};

/// All properties that are numbers, in the order of reports. Besides them a material may be `rigid`
/// and have a `pressure_field`.
std::span<const MaterialProperty> material_properties();
/// The part of the table that is about contacts: the members of ContactLawData.
std::span<const MaterialProperty> law_properties();

/// Finds a property by its name; null if no property has it.
const MaterialProperty* find_material_property(std::string_view name);
/// Returns the value of a surface, or the normal law's default if the surface gives none.
double find_value(const MaterialProperty& property, const Material& material,
                  contact::NormalLawKind law);
bool is_in_range(const MaterialProperty& property, double value);
/// Describes the values in range: "a number above 0 in N/m, or .inf for near-rigid".
std::string describe_range(const MaterialProperty& property);

/// The stiffness whose compressions weigh dissipation, and place the contact, under a normal law.
const MaterialProperty& find_stiffness(contact::NormalLawKind law);

/// Combines the properties of a contact, each by its rule.
/// @param share the first surface's share of the compression, in [0, 1]
contact::ContactLawData<double> combine_law_data(const Material& first, const Material& second,
                                                 contact::NormalLawKind law, double share);
double combine_friction(double mu1, double mu2);

}  // namespace stiction::plant
