#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stiction/sim/option_table.hpp"

/// Values of options, by the rows of their table.
namespace stiction::sim {

/// A value of any option; empty: an optional number that is left out.
using OptionValue = std::variant<std::monostate, double, int, bool, std::string_view>;

OptionValue get_value(const Option& option, const StepOptions& options);
OptionValue get_default(const Option& option);
/// Sets a value of the option's own kind; the name of a choice is looked up.
/// @throws Error of kUnknownName with the nearest name if no choice has this one
void set_value(const Option& option, const OptionValue& value, StepOptions* options);

/// Lists the names that a choice may have; empty for other kinds.
std::vector<std::string_view> list_choices(const Option& option);
/// Describes the values in range: "in (0, 1)", "a finite number above 0 m/s", "even, in 4..64".
std::string describe_range(const Option& option);
/// @throws Error naming the option, its value and its range if it is out of range
void check_range(const Option& option, const OptionValue& value);

/// Returns true if the contact model of the options reads the option.
bool is_used(const Option& option, const StepOptions& options);
/// Lists the contact models that read the option if all others have their defaults.
std::vector<std::string_view> list_models(const Option& option);

}  // namespace stiction::sim
