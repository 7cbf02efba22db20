#include "stiction/io/number_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace stiction::io {
namespace {

/// Attributes that hold names or files, which may be called "nan" or "inf".
constexpr std::array<std::string_view, 53> kTexts = {
    "name",      "class",     "childclass", "prefix",        "model",    "file",     "fileback",
    "filedown",  "filefront", "fileleft",   "fileright",     "fileup",   "meshdir",  "texturedir",
    "assetdir",  "body",      "body1",      "body2",         "joint",    "joint1",   "joint2",
    "geom",      "geom1",     "geom2",      "site",          "site1",    "site2",    "refsite",
    "cranksite", "sidesite",  "slidersite", "jointinparent", "tendon",   "tendon1",  "tendon2",
    "actuator",  "camera",    "flex",       "node",          "mesh",     "hfield",   "material",
    "texture",   "target",    "objname",    "refname",       "subtree1", "subtree2", "plugin",
    "instance",  "key",       "value",      "content_type"};

/// Limits to which MuJoCo clips, so that an infinite one has no effect. The lengthrange of a muscle
/// does not belong here, because it scales lengths.
constexpr std::array<std::string_view, 8> kClips = {
    "range",    "ctrlrange", "forcerange", "actrange", "actuatorfrcrange",
    "velrange", "posrange",  "cutoff"};

enum class Kind { kNotANumber, kFinite, kInfinite, kNan };

Kind kind_of(std::string_view token) {
  if (token.starts_with('+')) token.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(token.begin(), token.end(), value);
  if (error == std::errc::invalid_argument || end != token.end()) return Kind::kNotANumber;
  if (error != std::errc()) return Kind::kFinite;  // MuJoCo reports numbers that are too large
  return std::isnan(value) ? Kind::kNan : std::isinf(value) ? Kind::kInfinite : Kind::kFinite;
}

/// Returns the worst kind of all tokens, or kNotANumber if one token is not a number.
Kind worst_kind(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  Kind worst = Kind::kFinite;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(kSpace, begin)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    const Kind kind = kind_of(text.substr(begin, end - begin));
    if (kind == Kind::kNotANumber) return kind;
    worst = std::max(worst, kind);
    begin = end;
  }
  return worst;
}

template <std::size_t n>
bool is_in(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// True for user data, and for inputs that each step checks.
bool is_exempt(std::string_view tag, std::string_view attribute) {
  if (attribute == "user" || attribute == "data" || attribute == "prm") return true;
  return tag == "key" && (attribute == "ctrl" || attribute == "act");
}

}  // namespace

std::string_view find_number_fault(std::string_view tag, std::string_view attribute,
                                   std::string_view text) {
  const Kind kind = worst_kind(text);
  if (kind == Kind::kNotANumber || kind == Kind::kFinite) return "";
  if (is_exempt(tag, attribute) || is_in(kTexts, attribute)) return "";
  if (!is_in(kClips, attribute)) return "must be finite";
  return kind == Kind::kNan ? "must not be NaN" : "";
}

}  // namespace stiction::io
