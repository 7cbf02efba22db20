#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {

/// The parts of a message as one text.
inline std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

/// The first fault of a contact problem: the array, the index and what is wrong. Texts are composed
/// for that fault alone. Internal.
class ProblemFault {
 public:
  explicit operator bool() const { return !text_.empty(); }
  const std::string& text() const { return text_; }

  /// @param index   of the entry; -1: the array as a whole
  /// @param problem a text, or a function that composes it
  template <class T>
  void require(bool holds, const char* array, std::int64_t index, const char* member,
               const T& problem) {
    if (holds || *this) return;
    const std::string place = index < 0 ? "" : join({"[", std::to_string(index), "]"});
    if constexpr (std::is_invocable_v<T>)
      text_ = join({array, place, member, " ", problem()});
    else
      text_ = join({array, place, member, " ", problem});
  }
  /// The same for a number that must be in a range.
  void require_value(bool holds, const char* array, std::int64_t index, const char* member,
                     double value, const char* range) {
    require(holds, array, index, member, [&] {
      char number[32];
      std::snprintf(number, sizeof number, "%g", value);
      return join({"is ", number, ", must be ", range});
    });
  }
  void require_size(const char* array, std::size_t size, std::size_t expected, const char* why) {
    require(size == expected, array, -1, "", [&] {
      return join({"has ", std::to_string(size), " entries, must have ", std::to_string(expected),
                   ", ", why});
    });
  }
  /// [first, first + count) must lie in an array of this size.
  void require_range(const char* array, std::int64_t index, const char* member, std::int64_t first,
                     std::int64_t count, std::size_t size) {
    const bool holds = first >= 0 && count >= 0 && first + count <= static_cast<std::int64_t>(size);
    require(holds, array, index, member, [&] {
      return join({"is the range [", std::to_string(first), ", ", std::to_string(first + count),
                   "), must lie in [0, ", std::to_string(size), ")"});
    });
  }

 private:
  std::string text_;
};

/// Checks sizes and indices.
ProblemFault check_indices(const ContactProblem& problem);

}  // namespace stiction::contact
