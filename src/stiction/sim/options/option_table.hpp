#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "stiction/contact/contact_model.hpp"
#include "stiction/sim/options/step_options.hpp"

/// The table of the options of a step: the name and the range of each option, and the contact
/// models that read it. The table defines the checks of options, the warnings about options without
/// effect, the arguments of Python's Simulator with their types and documentation, --set of the
/// commands, and docs/options.md.
namespace stiction::sim {

enum class OptionKind { number, integer, flag, choice };

/// Access to a member of StepOptions, or to a member of one of its structs.
template <class T>
struct OptionAccess {
  T (*get)(const StepOptions& options);
  void (*set)(StepOptions& options, T value);
};

/// Access to an enum, by the index of its value in a list of names.
struct ChoiceAccess : OptionAccess<int> {
  std::vector<std::string_view> (*names)();
};

/// The member that an option sets. An optional number may be left out.
using OptionMember = std::variant<OptionAccess<double>, OptionAccess<std::optional<double>>,
                                  OptionAccess<int>, OptionAccess<bool>, ChoiceAccess>;

/// The values that a number or an integer may have, all finite.
struct OptionRange {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool includes_low = true;
  bool includes_high = true;
  bool is_even = false;
};

/// An option: one row of the table.
struct Option {
  std::string_view name;
  OptionMember member;
  OptionRange range = {};  // of numbers and integers
  std::string_view unit = {};
  /// Returns true if the contact model reads the option. Null if all models read it.
  bool (*is_used)(const contact::ContactModelTraits& model) = nullptr;
  /// True if contacts that stick by springs, friction_law elastic, do not read the option.
  bool is_replaced_by_springs = false;
  /// The description of the option in sentences, without range, unit, default and models.
  std::string_view help;

  OptionKind kind() const;
  bool is_optional() const;
};

/// All options, in the order of signatures and documentation.
std::span<const Option> option_table();
/// Finds an option by its name.
/// @throws Error of kUnknownName that suggests the nearest name if there is no such option
const Option& find_option(std::string_view name);

}  // namespace stiction::sim
