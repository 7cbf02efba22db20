#pragma once

#include <cmath>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stiction {

/// The kinds of errors. In Python they are strings, `stiction.Error.code`.
enum class ErrorCode {
  kFileNotFound,
  kSyntax,        // a file that cannot be parsed
  kInvalidValue,  // a value outside its range, or not finite
  kUnknownName,   // a name that does not exist
  kUnsupported,   // a valid request that this library, build or model does not support
  kWrongShape,    // an array or a model whose size does not match
  kVersion,       // a library of another version than the one used at build time
  kMuJoCo,        // an error that MuJoCo raised
  kStepFailed,    // a failed step, if the caller asked for failures to be raised
};

/// The only exception type of this library. It says what is wrong, where, and how to fix it.
class Error : public std::runtime_error {
 public:
  /// @param where   the file and line, the element or the argument; may be empty
  /// @param message the problem with its value, the cause and the remedy
  /// A null character of a name, at which what() would end, becomes the two characters \0.
  Error(ErrorCode code, std::string_view where, std::string_view message);

  ErrorCode code() const { return code_; }
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }

 private:
  ErrorCode code_;
  std::string where_, message_;
};

/// Collects the faults of a file, so that all of them are reported at once.
class ErrorList {
 public:
  void add(ErrorCode code, std::string_view where, std::string_view message) {
    errors_.emplace_back(code, where, message);
  }
  bool empty() const { return errors_.empty(); }
  /// Throws if the list is not empty. A single fault is thrown as it is. Several faults are thrown
  /// as one Error that lists them, one per line, with the code of the first.
  void throw_if_any() const;

 private:
  std::vector<Error> errors_;
};

/// Returns the entry of `names` with the least edit distance to `name`, whatever the case; or an
/// empty string if it is more than n / 3 + 1 for n letters, rounded down.
std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

/// Returns " (did you mean 'x'?)" with the nearest name, else a list of up to 40 known names and
/// the number of the others, to follow an unknown name in a message.
std::string suggest_name(const std::string& name, const std::vector<std::string>& names);

// Tables whose rows users choose by name.

/// Returns the names of a table's rows. Each row has a member `name`.
template <class Rows>
std::vector<std::string_view> list_names(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

/// Returns the index of a name in a list.
/// @param where what the user names, such as an option; the message begins with it
/// @throws Error kUnknownName, with the nearest name, if the list does not have this name
int parse_name(const std::string& where, std::string_view name,
               std::span<const std::string_view> names);

}  // namespace stiction

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
