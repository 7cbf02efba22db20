#pragma once

#include <string_view>

namespace stiction::io {

/// What an MJCF attribute's text must be and is not: empty where all is well, else a part of a
/// sentence, "must be finite". Everything that consists of numbers only is held to it, except
/// names, and numbers that no simulation reads (user data) or that each step checks (controls of
/// keyframes). Infinity may stand in ranges that only clip.
/// @param tag       of the element
/// @param attribute its name
/// @param text      its value, as in the file
std::string_view find_number_fault(std::string_view tag, std::string_view attribute,
                                   std::string_view text);

}  // namespace stiction::io
