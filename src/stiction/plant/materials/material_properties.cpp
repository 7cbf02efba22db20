#include "stiction/plant/materials/material_properties.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::plant {
namespace {

using contact::kInfinity;

// ---- rules of combination -----------------------------------------------------------------------

/// Returns the first spring's share of the compression of two springs in series. Stiffnesses may be
/// infinite.
double find_share_in_series(double k1, double k2) {
  if (std::isinf(k1) && std::isinf(k2)) return 0.5;
  if (std::isinf(k1)) return 0;
  if (std::isinf(k2)) return 1;
  return k2 / (k1 + k2);
}

double combine_in_series(double k1, double k2, double) {
  if (std::isinf(k1)) return k2;
  if (std::isinf(k2)) return k1;
  return k1 * (k2 / (k1 + k2));
}

double find_two_thirds_power(double x) { return math::square(math::cbrt(x)); }

/// Under Hertz's law two surfaces act like springs in series with the stiffnesses k_h^(2/3),
/// because the compression x = (f / k_h)^(2/3) is proportional to k_h^(-2/3).
double find_hertz_share(double k1, double k2) {
  if (std::isinf(k1) || std::isinf(k2)) return find_share_in_series(k1, k2);
  return find_share_in_series(find_two_thirds_power(k1), find_two_thirds_power(k2));
}

double combine_hertz(double k1, double k2, double) {
  if (std::isinf(k1) || std::isinf(k2)) return combine_in_series(k1, k2, 0);
  const double combined =
      combine_in_series(find_two_thirds_power(k1), find_two_thirds_power(k2), 0);
  return combined * std::sqrt(combined);
}

double add(double x1, double x2, double) { return x1 + x2; }
double weigh(double x1, double x2, double share) { return share * x1 + (1 - share) * x2; }
double take_harmonic_mean(double x1, double x2, double) {
  return x1 + x2 > 0 ? 2 * x1 * x2 / (x1 + x2) : 0;
}
double take_larger(double x1, double x2, double) { return std::fmax(0, std::fmax(x1, x2)); }

// ---- the table ----------------------------------------------------------------------------------

using Table = std::array<MaterialProperty, contact::kNumLawProperties + 7>;

/// Sets law_property of the rows that have no member of their own.
constexpr Table link(Table table) {
  for (MaterialProperty& property : table)
    if (!property.own_value) property.law_property = contact::find_law_property(property.name);
  return table;
}

constexpr Table kProperties = link({{
    {.name = "stiffness",
     .unit = "N/m",
     .group = PropertyGroup::stiffness,
     .range = {.is_positive = true, .may_be_infinite = true},
     .default_value = kInfinity,
     .rule = "series, k1 k2/(k1 + k2),",
     .combine = combine_in_series,
     .find_share = find_share_in_series,
     .mean_rule = "weighted by softness, (k2 d1 + k1 d2)/(k1 + k2),",
     .is_always_shown = true},
    {.name = "hertz_stiffness",
     .unit = "N/m^1.5",
     .group = PropertyGroup::stiffness,
     .range = {.is_positive = true, .may_be_infinite = true},
     .default_value = kInfinity,
     .rule = "series, (k1^(-2/3) + k2^(-2/3))^(-3/2),",
     .combine = combine_hertz,
     .find_share = find_hertz_share,
     .mean_rule = "weighted by compression,",
     .note_if_infinite = ", at a depth of 0.1 mm"},
    {.name = "barrier_stiffness",
     .unit = "N/m",
     .group = PropertyGroup::stiffness,
     .range = {.is_positive = true, .may_be_infinite = true},
     .default_value = kInfinity,
     .rule = "series, k1 k2/(k1 + k2),",
     .combine = combine_in_series,
     .find_share = find_share_in_series,
     .mean_rule = "weighted by softness, (k2 d1 + k1 d2)/(k1 + k2),"},
    {.name = "barrier_thickness",
     .unit = "m",
     .group = PropertyGroup::stiffness,
     .range = {.is_positive = true},
     .law_default = &contact::NormalLawTraits::default_thickness,
     .rule = "sum",
     .combine = add},
    {.name = "dissipation",
     .unit = "s/m",
     .group = PropertyGroup::dissipation,
     .default_value = 50,
     .combine = weigh,
     .is_always_shown = true},
    {.name = "relaxation_time",
     .unit = "s",
     .group = PropertyGroup::dissipation,
     .default_value = 0.01,
     .rule = "sum",
     .combine = add,
     .is_always_shown = true},
    {.name = "viscous_friction",
     .unit = "N s/m",
     .group = PropertyGroup::friction,
     .default_value = 0,
     .rule = "harmonic mean, 2 nu1 nu2/(nu1 + nu2),",
     .combine = take_harmonic_mean},
    {.name = "restitution",
     .group = PropertyGroup::dissipation,
     .range = {.most = 1},
     .default_value = 0,
     .rule = "larger",
     .combine = take_larger,
     .note = "Poisson's coefficient of impacts"},
    {.name = "tangential_stiffness",
     .unit = "N/m",
     .group = PropertyGroup::friction,
     // Beyond it, dt^2 k_t exceeds the mass of small bodies by more than 1e12, and solvers lose the
     // rest of a double to rounding.
     .range = {.is_positive = true,
               .may_be_infinite = true,
               .most = 1e12,
               .infinity = "for 0.85 times the normal stiffness"},
     .default_value = kInfinity,
     .rule = "series, k1 k2/(k1 + k2),",
     .combine = combine_in_series,
     .note_if_infinite = "0.85 times the stiffness of the contact along its normal"},
    {.name = "tangential_damping",
     .group = PropertyGroup::friction,
     .default_value = 1,
     .rule = "larger",
     .combine = take_larger,
     .note = "damping ratio of the springs along the surface"},
    {.name = "friction",
     .group = PropertyGroup::friction,
     .own_value = &Material::friction,
     .own_source = &MaterialSource::friction,
     .rule = "harmonic mean, 2 mu1 mu2/(mu1 + mu2),"},
    {.name = "static_friction",
     .group = PropertyGroup::friction,
     .own_value = &Material::static_friction,
     .own_source = &MaterialSource::static_friction,
     .rule = "harmonic mean, 2 mu1 mu2/(mu1 + mu2),"},
    {.name = "youngs_modulus",
     .unit = "Pa",
     .group = PropertyGroup::stiffness,
     .range = {.is_positive = true},
     .own_value = &Material::youngs_modulus,
     .own_source = &MaterialSource::youngs_modulus},
    {.name = "poissons_ratio",
     .group = PropertyGroup::stiffness,
     .range = {.most = 0.5},
     .own_value = &Material::poissons_ratio,
     .own_source = &MaterialSource::poissons_ratio},
    {.name = "hydroelastic_modulus",
     .unit = "Pa",
     .group = PropertyGroup::pressure_field,
     .range = {.is_positive = true, .hint = "; a rigid surface has 'rigid: true'"},
     .own_value = &Material::hydroelastic_modulus,
     .own_source = &MaterialSource::hydroelastic_modulus},
    {.name = "resolution_hint",
     .unit = "m",
     .group = PropertyGroup::pressure_field,
     .range = {.is_positive = true},
     .own_value = &Material::resolution_hint,
     .own_source = &MaterialSource::resolution_hint},
    {.name = "slab_thickness",
     .unit = "m",
     .group = PropertyGroup::pressure_field,
     .range = {.is_positive = true},
     .own_value = &Material::slab_thickness,
     .own_source = &MaterialSource::slab_thickness},
}});

constexpr bool has_all_law_properties_first() {
  for (std::size_t i = 0; i < kProperties.size(); ++i)
    if ((kProperties[i].law_property >= 0) != (i < contact::kNumLawProperties)) return false;
  return true;
}
static_assert(has_all_law_properties_first(), "every member of ContactLawData has a row");
static_assert(contact::kNearRigidDepth == 1e-4, "the note of hertz_stiffness states 0.1 mm");

}  // namespace

double& MaterialProperty::value(Material& m) const {
  return own_value ? m.*own_value : m.law.*contact::kLawProperties<double>[law_property];
}
double MaterialProperty::value(const Material& m) const {
  return own_value ? m.*own_value : m.law.*contact::kLawProperties<double>[law_property];
}
std::string& MaterialProperty::source(MaterialSource& s) const {
  return own_source ? s.*own_source : s.law.*contact::kLawProperties<std::string>[law_property];
}
const std::string& MaterialProperty::source(const MaterialSource& s) const {
  return own_source ? s.*own_source : s.law.*contact::kLawProperties<std::string>[law_property];
}

std::span<const MaterialProperty> material_properties() { return kProperties; }
std::span<const MaterialProperty> law_properties() {
  return std::span(kProperties).first(contact::kNumLawProperties);
}

const MaterialProperty* find_material_property(std::string_view name) {
  const auto* found =
      std::find_if(kProperties.begin(), kProperties.end(),
                   [&](const MaterialProperty& property) { return property.name == name; });
  return found == kProperties.end() ? nullptr : found;
}

double find_value(const MaterialProperty& property, const Material& material,
                  contact::NormalLawKind law) {
  const double value = property.value(material);
  if (!property.law_default || !std::isnan(value)) return value;
  return contact::traits(law).*property.law_default;
}

bool is_in_range(const MaterialProperty& property, double value) {
  const PropertyRange& range = property.range;
  const bool is_large_enough = range.is_positive ? value > 0 : value >= 0;
  if (std::isinf(value)) return is_large_enough && range.may_be_infinite;
  return is_large_enough && value <= range.most;
}

std::string describe_range(const MaterialProperty& property) {
  const PropertyRange& range = property.range;
  const bool has_most = std::isfinite(range.most);
  if (has_most && !range.is_positive) return "a number from 0 to " + base::to_text(range.most);
  std::string text = range.may_be_infinite ? "a number" : "a finite number";
  text += range.is_positive ? " above 0" : " of at least 0";
  if (has_most) text += " and at most " + base::to_text(range.most);
  if (!property.unit.empty()) text += " in " + std::string(property.unit);
  if (range.may_be_infinite) text += ", or .inf " + std::string(range.infinity);
  return text += range.hint;
}

contact::ContactLawData<double> combine_law_data(const Material& first, const Material& second,
                                                 contact::NormalLawKind law, double share) {
  contact::ContactLawData<double> pair;
  // The loop over the rows is unrolled at compile time, so the step does not read the table.
  const auto combine = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
    constexpr const MaterialProperty& kRow = kProperties[i];
    constexpr auto kMember = contact::kLawProperties<double>[kRow.law_property];
    const auto value = [&](const Material& material) {
      const double own = material.law.*kMember;
      if constexpr (kRow.law_default != nullptr)
        return std::isnan(own) ? contact::traits(law).*kRow.law_default : own;
      else
        return own;
    };
    pair.*kMember = kRow.combine(value(first), value(second), share);
  };
  const auto combine_all = [&]<std::size_t... i>(std::index_sequence<i...>) {
    (combine(std::integral_constant<std::size_t, i>()), ...);
  };
  combine_all(std::make_index_sequence<contact::kNumLawProperties>());
  return pair;
}

double combine_friction(double mu1, double mu2) { return take_harmonic_mean(mu1, mu2, 0); }

const MaterialProperty& find_stiffness(contact::NormalLawKind law) {
  const contact::PropertyUse& use = contact::traits(law).uses;
  for (const MaterialProperty& property : law_properties())
    if (property.find_share && use.*contact::kLawProperties<bool>[property.law_property])
      return property;
  return kProperties[0];  // laws without a stiffness: the linear spring
}

}  // namespace stiction::plant
