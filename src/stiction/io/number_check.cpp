#include "stiction/io/number_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace stiction::io {
namespace {

/// Names, of the element's own or of others, and files: "nan" and "inf" may be some.
constexpr std::array<std::string_view, 53> kTexts = {
    "name",      "class",     "childclass", "prefix",        "model",    "file",     "fileback",
    "filedown",  "filefront", "fileleft",   "fileright",     "fileup",   "meshdir",  "texturedir",
    "assetdir",  "body",      "body1",      "body2",         "joint",    "joint1",   "joint2",
    "geom",      "geom1",     "geom2",      "site",          "site1",    "site2",    "refsite",
    "cranksite", "sidesite",  "slidersite", "jointinparent", "tendon",   "tendon1",  "tendon2",
    "actuator",  "camera",    "flex",       "node",          "mesh",     "hfield",   "material",
    "texture",   "target",    "objname",    "refname",       "subtree1", "subtree2", "plugin",
    "instance",  "key",       "value",      "content_type"};

/// Limits that MuJoCo clips to; beyond an infinite one lies nothing. Not those of muscles' lengths
/// (lengthrange), which are scaled by.
constexpr std::array<std::string_view, 8> kClips = {
    "range",    "ctrlrange", "forcerange", "actrange", "actuatorfrcrange",
    "velrange", "posrange",  "cutoff"};

enum class Kind { kNotANumber, kFinite, kInfinite, kNan };

Kind kind_of(std::string_view token) {
  if (token.starts_with('+')) token.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(token.begin(), token.end(), value);
  if (error == std::errc::invalid_argument || end != token.end()) return Kind::kNotANumber;
  if (error != std::errc()) return Kind::kFinite;  // as written; too large is MuJoCo's to say
  return std::isnan(value) ? Kind::kNan : std::isinf(value) ? Kind::kInfinite : Kind::kFinite;
}

/// The worst of all tokens; kNotANumber if one is none.
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

/// Numbers that are the user's own, or inputs of a step.
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
