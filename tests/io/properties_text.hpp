#pragma once

#include <string>

#include "stiction/base/error.hpp"
#include "stiction/io/contact_properties.hpp"

namespace stiction::io {

/// Parses contact properties as the file pads.contact.yaml.
inline ContactProperties parse(const std::string& text) {
  return parse_contact_properties(text, "pads.contact.yaml");
}

/// Returns the message of the error that a text gives, or an empty text.
inline std::string message_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace stiction::io
