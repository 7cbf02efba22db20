#pragma once

#include <span>
#include <string_view>

#include "stiction/plant/materials.hpp"

namespace stiction::io {

/// A number that a material may have.
struct PropertyKey {
  const char* name;  // in files
  // One of both, the other null: a number of the laws, or one of the material itself.
  double contact::ContactLawData<double>::*law_member;
  double plant::Material::*own_member;
  const char* range;  // as a message says it: "a number above 0 in N/m"
  bool positive;      // else at least 0
  bool may_be_infinite;
  double most = contact::kInfinity;

  double value(const plant::Material& m) const {
    return law_member ? m.law.*law_member : m.*own_member;
  }
  double& value(plant::Material& m) const {
    return law_member ? m.law.*law_member : m.*own_member;
  }
};

/// All of them, as docs/contact_properties.md lists them.
std::span<const PropertyKey> property_keys();

/// Null if there is none of this name.
const PropertyKey* find_property_key(std::string_view name);

/// @returns false, and leaves the values as they are, if a value is out of the key's range
bool set_property(const PropertyKey& key, double value, plant::Material* values);

}  // namespace stiction::io
