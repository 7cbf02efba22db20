#pragma once

#include <string_view>

namespace stiction::io {

/// Checks the numbers of an MJCF attribute. Returns an empty text if they are valid, otherwise the
/// end of a sentence, such as "must be finite". All attributes are checked that consist of numbers
/// only, except names, numbers that no simulation reads (user data), and numbers that each step
/// checks (controls of keyframes). Ranges that only clip may be infinite.
/// @param tag       name of the element
/// @param attribute name of the attribute
/// @param text      value of the attribute, as in the file
std::string_view find_number_fault(std::string_view tag, std::string_view attribute,
                                   std::string_view text);

}  // namespace stiction::io
