#include "stiction/io/property_keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stiction::io {
namespace {

using LawData = contact::ContactLawData<double>;

constexpr std::array kKeys = {
    PropertyKey{"stiffness", &LawData::stiffness, nullptr,
                "a number above 0 in N/m, or .inf for near-rigid", true, true},
    PropertyKey{"dissipation", &LawData::dissipation, nullptr,
                "a finite number of at least 0 in s/m", false, false},
    PropertyKey{"relaxation_time", &LawData::relaxation_time, nullptr,
                "a finite number of at least 0 in s", false, false},
    PropertyKey{"friction", nullptr, &plant::Material::friction, "a finite number of at least 0",
                false, false},
    PropertyKey{"hertz_stiffness", &LawData::hertz_stiffness, nullptr,
                "a number above 0 in N/m^1.5, or .inf for near-rigid", true, true},
    PropertyKey{"barrier_stiffness", &LawData::barrier_stiffness, nullptr,
                "a number above 0 in N/m, or .inf for near-rigid", true, true},
    PropertyKey{"barrier_thickness", &LawData::barrier_thickness, nullptr,
                "a finite number above 0 in m", true, false},
    PropertyKey{"viscous_friction", &LawData::viscous_friction, nullptr,
                "a finite number of at least 0 in N s/m", false, false},
    PropertyKey{"restitution", &LawData::restitution, nullptr, "a number from 0 to 1", false, false,
                1},
    PropertyKey{"hydroelastic_modulus", nullptr, &plant::Material::hydroelastic_modulus,
                "a finite number above 0 in Pa; a rigid surface has 'rigid: true'", true, false},
    PropertyKey{"resolution_hint", nullptr, &plant::Material::resolution_hint,
                "a finite number above 0 in m", true, false},
    PropertyKey{"slab_thickness", nullptr, &plant::Material::slab_thickness,
                "a finite number above 0 in m", true, false},
};

}  // namespace

std::span<const PropertyKey> property_keys() { return kKeys; }

const PropertyKey* find_property_key(std::string_view name) {
  const auto* found = std::find_if(kKeys.begin(), kKeys.end(),
                                   [&](const PropertyKey& key) { return key.name == name; });
  return found == kKeys.end() ? nullptr : found;
}

bool set_property(const PropertyKey& key, double value, plant::Material* values) {
  const bool is_in_range = key.positive ? value > 0 : value >= 0;
  if (!is_in_range || value > key.most || (std::isinf(value) && !key.may_be_infinite)) return false;
  key.value(*values) = value;
  return true;
}

}  // namespace stiction::io
