#include "stiction/base/names.hpp"

#include <algorithm>

#include "stiction/base/error.hpp"

namespace stiction {

int parse_name(const std::string& where, std::string_view name,
               std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  throw Error(ErrorCode::kUnknownName, where,
              "there is no '" + std::string(name) + "'" +
                  suggest_name(std::string(name), {names.begin(), names.end()}));
}

}  // namespace stiction
