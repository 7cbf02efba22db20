#include "stiction/io/yaml_scalars.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace stiction::io {

std::string quote(const YAML::Node& node) {
  constexpr std::size_t kMaxQuoted = 40;
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar() || node.Scalar().empty()) return "empty";
  const std::string& text = node.Scalar();
  std::string quoted = "'";  // grown in steps: GCC 12 warns of sums that begin with one letter
  std::size_t end = std::min(text.size(), kMaxQuoted);
  while (end > 0 && end < text.size() && (text[end] & 0xc0) == 0x80) --end;  // within a character
  quoted += text.substr(0, end);
  quoted += text.size() > kMaxQuoted ? "...'" : "'";
  return quoted;
}

double parse_number(const YAML::Node& node) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (!node.IsScalar()) return kNaN;
  std::string_view text = node.Scalar();
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) return kNaN;
  double value = kNaN;
  if (text == ".inf" || text == ".Inf" || text == ".INF") {
    value = std::numeric_limits<double>::infinity();
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return kNaN;
  }
  return negative ? -value : value;
}

bool parse_bool(const YAML::Node& node, bool* value) {
  if (!node.IsScalar()) return false;
  const std::string& text = node.Scalar();
  *value = text == "true" || text == "True" || text == "TRUE";
  return *value || text == "false" || text == "False" || text == "FALSE";
}

}  // namespace stiction::io
