#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "stiction/contact/contact_model.hpp"
#include "stiction/sim/step_options.hpp"

/// The options of a step as a table: what each is called, what it may be and which contact models
/// read it. From it come their checks, the warnings of options without effect, the arguments of
/// Python's Simulator with their types and documentation, --set of the commands, and
/// docs/options.md.
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

struct Option {
  std::string_view name;
  OptionMember member;
  OptionRange range = {};  // of numbers and integers
  std::string_view unit = {};
  /// Returns true if the contact model reads the option, under these options; null: all models do.
  bool (*is_used)(const contact::ContactModelTraits& model, const StepOptions& options) = nullptr;
  /// Sentences that say what the option is, without range, unit, default and models.
  std::string_view help;

  OptionKind kind() const;
  bool is_optional() const;
};

/// All options, in the order of signatures and documentation.
std::span<const Option> option_table();
/// @throws Error of kUnknownName with the nearest name if no option has this one
const Option& find_option(std::string_view name);

}  // namespace stiction::sim
