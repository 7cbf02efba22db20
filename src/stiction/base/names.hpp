#pragma once

#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Tables whose rows users choose by name.
namespace stiction {

/// Returns the names of a table's rows. Each row has a member `name`.
template <std::ranges::input_range Rows>
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
