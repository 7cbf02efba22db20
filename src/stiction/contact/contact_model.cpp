#include "stiction/contact/contact_model.hpp"

#include "stiction/base/names.hpp"

namespace stiction::contact {

ContactModel parse_contact_model(std::string_view name) {
  return static_cast<ContactModel>(parse_name("contact_model", name, list_names(contact_models())));
}

}  // namespace stiction::contact
