#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "stiction/base/number_text.hpp"
#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {

/// Returns the concatenation of the parts of a message.
inline std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

/// The first fault of a contact problem, as a text with the array, the index and the problem. All
/// require_* functions do nothing after the first fault, and compose a text only for that one.
/// Internal.
class ProblemFault {
 public:
  explicit operator bool() const { return !text_.empty(); }
  const std::string& text() const { return text_; }

  /// Records a fault unless `holds` is true.
  /// @param index   index of the entry; -1: the array as a whole
  /// @param member  member of the entry, such as ".dim", or an empty text
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
  /// Requires a number to be in a range.
  /// @param range the text after "must be"
  void require_value(bool holds, const char* array, std::int64_t index, const char* member,
                     double value, const char* range) {
    require(holds, array, index, member, [&] {
      return join({"is ", base::to_text(value), ", must be ", range});
    });
  }
  /// Requires an array to have the expected number of entries.
  /// @param why describes the expected size, such as "one per dof"
  void require_size(const char* array, std::size_t size, std::size_t expected, const char* why) {
    require(size == expected, array, -1, "", [&] {
      return join({"has ", std::to_string(size), " entries, must have ", std::to_string(expected),
                   ", ", why});
    });
  }
  /// Requires the range [first, first + count) to lie within an array of the given size.
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

/// Returns the first fault in sizes and indices of a problem, or no fault.
ProblemFault check_indices(const ContactProblem& problem);

}  // namespace stiction::contact
