#include "stiction/io/property_keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stiction::io {
namespace {

constexpr std::array kKeys = {
    PropertyKey{"stiffness", &plant::Material::stiffness,
                "a number above 0 in N/m, or .inf for near-rigid", true, true},
    PropertyKey{"dissipation", &plant::Material::dissipation,
                "a finite number of at least 0 in s/m", false, false},
    PropertyKey{"relaxation_time", &plant::Material::relaxation_time,
                "a finite number of at least 0 in s", false, false},
    PropertyKey{"friction", &plant::Material::friction, "a finite number of at least 0", false,
                false},
    PropertyKey{"hertz_stiffness", &plant::Material::hertz_stiffness,
                "a number above 0 in N/m^1.5, or .inf for near-rigid", true, true},
    PropertyKey{"barrier_stiffness", &plant::Material::barrier_stiffness,
                "a number above 0 in N/m, or .inf for near-rigid", true, true},
    PropertyKey{"barrier_thickness", &plant::Material::barrier_thickness,
                "a finite number above 0 in m", true, false},
    PropertyKey{"viscous_friction", &plant::Material::viscous_friction,
                "a finite number of at least 0 in N s/m", false, false},
    PropertyKey{"restitution", &plant::Material::restitution, "a number from 0 to 1", false, false,
                1},
    PropertyKey{"hydroelastic_modulus", &plant::Material::hydroelastic_modulus,
                "a finite number above 0 in Pa; a rigid surface has 'rigid: true'", true, false},
    PropertyKey{"resolution_hint", &plant::Material::resolution_hint,
                "a finite number above 0 in m", true, false},
    PropertyKey{"slab_thickness", &plant::Material::slab_thickness, "a finite number above 0 in m",
                true, false},
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
  values->*key.member = value;
  return true;
}

}  // namespace stiction::io
