#include "stiction/base/name_pattern.hpp"

#include <cstddef>
#include <optional>

namespace stiction::base {
namespace {

/// Removes the first character and returns its code point, or a number no character has.
char32_t take_character(std::string_view* text) noexcept {
  constexpr char32_t kNoCharacter = 0x110000;
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>((*text)[i]); };
  const unsigned char first = byte(0);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xc2 ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                                          : 4;
  char32_t code = size == 1 ? first : first & (0x7fU >> size);
  bool is_valid = size > 0 && size <= text->size() && first < 0xf5;
  for (std::size_t i = 1; is_valid && i < size; ++i) {
    is_valid = (byte(i) & 0xc0) == 0x80;
    code = code << 6 | (byte(i) & 0x3f);
  }
  if (!is_valid) code = kNoCharacter + first;
  text->remove_prefix(is_valid ? size : 1);
  return code;
}

/// Removes a character of a set, which a backslash may precede.
/// @return nothing at the end of the pattern
std::optional<char32_t> take_member(std::string_view* pattern) noexcept {
  if (pattern->starts_with('\\')) pattern->remove_prefix(1);
  if (pattern->empty()) return std::nullopt;
  return take_character(pattern);
}

/// Removes a set such as "a-cx]", without its opening bracket, and returns whether it has the
/// character.
/// @return nothing if the set has no closing bracket; the pattern is then unspecified
std::optional<bool> take_set(std::string_view* pattern, char32_t character) noexcept {
  const bool is_negated = pattern->starts_with('!') || pattern->starts_with('^');
  if (is_negated) pattern->remove_prefix(1);
  bool is_member = false;
  // A bracket that comes first is a member.
  for (bool is_first = true; is_first || !pattern->starts_with(']'); is_first = false) {
    const std::optional<char32_t> low = take_member(pattern);
    if (!low) return std::nullopt;
    std::optional<char32_t> high = low;
    if (pattern->size() > 1 && (*pattern)[0] == '-' && (*pattern)[1] != ']') {
      pattern->remove_prefix(1);
      high = take_member(pattern);
      if (!high) return std::nullopt;
    }
    is_member = is_member || (*low <= character && character <= *high);
  }
  pattern->remove_prefix(1);
  return is_member != is_negated;
}

/// Removes the first element of a pattern, which is not `*`, and the first character of a name.
/// @return whether they match
bool take_match(std::string_view* pattern, std::string_view* name) noexcept {
  if (pattern->empty() || name->empty()) return false;
  const char32_t character = take_character(name);
  const char32_t element = take_character(pattern);
  if (element == '?') return true;
  if (element == '\\') return !pattern->empty() && take_character(pattern) == character;
  if (element == '[') {
    std::string_view rest = *pattern;
    if (const std::optional<bool> has = take_set(&rest, character)) {
      *pattern = rest;
      return *has;
    }
  }
  return element == character;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view name) noexcept {
  // After a mismatch the last star takes one character more; it can take what earlier stars could.
  std::optional<std::string_view> after_star;
  std::string_view retry;
  while (!pattern.empty() || !name.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      after_star = pattern;
      retry = name;
    } else if (!take_match(&pattern, &name)) {
      if (!after_star || retry.empty()) return false;
      take_character(&retry);
      pattern = *after_star;
      name = retry;
    }
  }
  return true;
}

}  // namespace stiction::base
