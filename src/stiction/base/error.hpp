#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace stiction {

enum class ErrorCode {
  kFileNotFound,
  kSyntax,        // a file that cannot be read as what it should be
  kInvalidValue,  // a value outside its range, or not finite
  kUnknownName,   // a name that nothing has
  kUnsupported,   // valid, but not taken by this library or model
  kWrongShape,    // an array or model that does not fit the other
  kVersion,       // another version of a library than the one this was built for
  kMuJoCo,        // raised by MuJoCo
  kStepFailed,    // a step that could not be made, and whose failure the caller wants raised
};

/// The one exception of this library: what is wrong, where, and what to do about it.
class Error : public std::runtime_error {
 public:
  /// @param where   file and line, element, argument; may be empty
  /// @param message what is wrong, with the value, and the way out
  Error(ErrorCode code, std::string where, std::string message)
      : std::runtime_error(where.empty() ? message : where + ": " + message),
        code_(code),
        where_(std::move(where)),
        message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }

 private:
  ErrorCode code_;
  std::string where_, message_;
};

/// Collects the faults of a file, so that one reading reports all of them.
class ErrorList {
 public:
  void add(ErrorCode code, std::string where, std::string message) {
    errors_.emplace_back(code, std::move(where), std::move(message));
  }
  bool empty() const { return errors_.empty(); }
  /// Throws the one fault, or all of them in one Error, one to a line. Returns if there is none.
  void throw_if_any() const;

 private:
  std::vector<Error> errors_;
};

/// The entry of `names` nearest to `name` by edit distance, or empty if none is near.
std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

/// " (did you mean 'x'?)", or the list of names when none is near.
std::string suggest_name(const std::string& name, const std::vector<std::string>& names);

}  // namespace stiction
