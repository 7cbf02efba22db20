#pragma once

#include <limits>
#include <string_view>

/// The physical properties of a contact that force laws read.
namespace stiction::contact {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One entry for each property. T is double for the values of one contact, a SIMD type for those of
/// several, bool for the set of properties that a law reads, and a text for where values come from.
/// The solver reads the first six with a contact's geometry, see gather().
template <class T>
struct ContactLawData {
  T stiffness{};          // k [N/m], >= 0; infinite: near-rigid
  T dissipation{};        // Hunt-Crossley d >= 0 [s/m]
  T relaxation_time{};    // tau_d >= 0 of linear dissipation [s]
  T hertz_stiffness{};    // k_h of Hertz's law [N/m^(3/2)], > 0; infinite: near-rigid
  T barrier_stiffness{};  // k of the barriers [N/m], > 0; infinite: near-rigid
  T barrier_thickness{};  // d > 0 of the barriers [m]
  T viscous_friction{};   // nu >= 0 of rigid models [N s/m]
  T restitution{};        // Poisson's coefficient of rigid models, in [0, 1] [-]
  /// k_t > 0 of friction_law elastic [N/m]; infinite: in proportion to the normal stiffness.
  T tangential_stiffness{};
  T tangential_damping{};  // damping ratio zeta >= 0 of friction_law elastic [-]
};

/// The properties that a law or a model reads.
using PropertyUse = ContactLawData<bool>;

inline constexpr int kNumLawProperties = 10;

/// The names of the properties, in files and reports.
inline constexpr std::string_view kLawPropertyNames[kNumLawProperties] = {
    "stiffness",         "dissipation",       "relaxation_time",
    "hertz_stiffness",   "barrier_stiffness", "barrier_thickness",
    "viscous_friction",  "restitution",       "tangential_stiffness",
    "tangential_damping"};

/// The members in the order of the names, for loops over all properties.
template <class T>
inline constexpr T ContactLawData<T>::*kLawProperties[kNumLawProperties] = {
    &ContactLawData<T>::stiffness,
    &ContactLawData<T>::dissipation,
    &ContactLawData<T>::relaxation_time,
    &ContactLawData<T>::hertz_stiffness,
    &ContactLawData<T>::barrier_stiffness,
    &ContactLawData<T>::barrier_thickness,
    &ContactLawData<T>::viscous_friction,
    &ContactLawData<T>::restitution,
    &ContactLawData<T>::tangential_stiffness,
    &ContactLawData<T>::tangential_damping};

static_assert(sizeof(ContactLawData<double>) == kNumLawProperties * sizeof(double),
              "every member needs a name and an entry in kLawProperties");

/// Returns the index of a property in these lists; -1 if no property has this name.
constexpr int find_law_property(std::string_view name) {
  for (int p = 0; p < kNumLawProperties; ++p)
    if (kLawPropertyNames[p] == name) return p;
  return -1;
}

/// Returns data with the same entry for every property.
template <class T>
constexpr ContactLawData<T> make_uniform_law_data(const T& entry) {
  ContactLawData<T> data;
  for (const auto member : kLawProperties<T>) data.*member = entry;
  return data;
}

}  // namespace stiction::contact
