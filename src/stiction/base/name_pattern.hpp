#pragma once

#include <string_view>

namespace stiction::base {

/// True if a name matches a pattern as a whole. This is fnmatch of POSIX, which Windows lacks,
/// without its classes such as [:digit:].
///
/// In a pattern, `*` is any text, `?` is one character, `[a-cx]` is one of the characters a, b, c
/// and x, `[!a-cx]` and `[^a-cx]` are any other character, and a backslash makes the next character
/// stand for itself. A `[` without its `]` stands for itself. Both texts are UTF-8; each byte that
/// is not valid UTF-8 counts as one character.
bool matches_pattern(std::string_view pattern, std::string_view name) noexcept;

}  // namespace stiction::base
