#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stiction/sim/options/option_table.hpp"

/// Reads, writes, checks and describes the values of options.
namespace stiction::sim {

/// A value of any option. It is empty for an optional number that is left out.
using OptionValue = std::variant<std::monostate, double, int, bool, std::string_view>;

/// Returns the value that an option has in `options`.
OptionValue get_value(const Option& option, const StepOptions& options);
/// Returns the default value of an option.
OptionValue get_default(const Option& option);
/// Sets the value of an option. The value must have the option's kind.
/// @throws Error of kUnknownName that suggests the nearest name if a choice has no such name
void set_value(const Option& option, const OptionValue& value, StepOptions* options);

/// Lists the names that a choice may have; empty for other kinds.
std::vector<std::string_view> list_choices(const Option& option);
/// Describes the values in range: "in (0, 1)", "a finite number above 0 m/s", "even, in 4..64".
std::string describe_range(const Option& option);
/// Checks that a value is in the range of an option.
/// @throws Error naming the option, the value and the range otherwise
void check_range(const Option& option, const OptionValue& value);

/// Returns true if the springs of friction_law elastic take the place of the option.
bool is_replaced_by_springs(const Option& option, const StepOptions& options);
/// Returns true if contacts under the model and the friction law of the options read the option.
bool is_used(const Option& option, const StepOptions& options);
/// Lists the contact models that read the option if all other options have their defaults.
std::vector<std::string_view> list_models(const Option& option);

}  // namespace stiction::sim
