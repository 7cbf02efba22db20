#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace stiction::base {

/// Writes a number for a message.
/// @param digits largest number of significant digits, 1 to 17
inline std::string to_text(double value, int digits = 6) {
  if (std::isnan(value)) return "nan";  // printf may print "-nan"
  if (value == 0) return "0";           // printf prints "-0" for -0
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace stiction::base
