#include "stiction/contact/normal_laws.hpp"

#include "stiction/base/names.hpp"

namespace stiction::contact {

NormalLawKind parse_normal_law(std::string_view name) {
  return static_cast<NormalLawKind>(parse_name("normal_law", name, list_names(normal_laws())));
}

}  // namespace stiction::contact
