#include "stiction/sim/report/warning_text.hpp"

#include <algorithm>
#include <cstring>

#include "stiction/base/error.hpp"

namespace stiction::sim {

std::string WarningText::str() const {
  std::string out;
  const char* next = form_;
  while (const char* begin = std::strchr(next, '{')) {
    const char* end = std::strchr(begin, '}');
    out.append(next, begin) += fill({begin + 1, end});
    next = end + 1;
  }
  return out + next;
}

/// Returns what belongs into a place of the text, such as "geom 0".
std::string WarningText::fill(std::string_view place) const {
  if (place == "text") return facts_.text;
  if (place == "cause") return facts_.cause;
  const int last = std::clamp(place.back() - '0', 0, 9);
  if (place[1] == ':') return base::to_text(facts_.numbers[place[0] - '0'], last);
  const int id = facts_.ids[last];
  switch (place[0]) {
    case 'i': return std::to_string(id);
    case 'g': return names_->describe(mjOBJ_GEOM, id);
    case 'j': return names_->describe(mjOBJ_JOINT, id);
    default: return names_->describe(mjOBJ_BODY, id);
  }
}

}  // namespace stiction::sim
