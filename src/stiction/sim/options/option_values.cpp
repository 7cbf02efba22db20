#include "stiction/sim/options/option_values.hpp"

#include <cmath>

#include "stiction/base/error.hpp"

namespace stiction::sim {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce the arguments of an aggregate

bool is_in(const OptionRange& range, double value) {
  return std::isfinite(value) && (range.includes_low ? value >= range.low : value > range.low) &&
         (range.includes_high ? value <= range.high : value < range.high) &&
         (!range.is_even || std::fmod(value, 2) == 0);
}

}  // namespace

OptionValue get_value(const Option& option, const StepOptions& options) {
  return std::visit(
      Overloaded{[&](const ChoiceAccess& choice) -> OptionValue {
                   const auto names = choice.names();
                   const auto index = static_cast<std::size_t>(choice.get(options));
                   // The caller's own normal law is not in the list.
                   return index < names.size() ? names[index] : std::string_view("custom");
                 },
                 [&](const OptionAccess<std::optional<double>>& member) -> OptionValue {
                   const std::optional<double> value = member.get(options);
                   return value ? OptionValue(*value) : OptionValue();
                 },
                 [&](const auto& member) -> OptionValue { return member.get(options); }},
      option.member);
}

OptionValue get_default(const Option& option) { return get_value(option, StepOptions()); }

void set_value(const Option& option, const OptionValue& value, StepOptions* options) {
  std::visit(Overloaded{[&](const ChoiceAccess& choice) {
                          const auto name = std::get<std::string_view>(value);
                          choice.set(*options,
                                     parse_name(std::string(option.name), name, choice.names()));
                        },
                        [&](const OptionAccess<std::optional<double>>& member) {
                          const double* number = std::get_if<double>(&value);
                          member.set(*options, number ? std::optional(*number) : std::nullopt);
                        },
                        [&]<class T>(const OptionAccess<T>& member) {
                          member.set(*options, std::get<T>(value));
                        }},
             option.member);
}

std::vector<std::string_view> list_choices(const Option& option) {
  const auto* choice = std::get_if<ChoiceAccess>(&option.member);
  return choice ? choice->names() : std::vector<std::string_view>();
}

std::string describe_range(const Option& option) {
  const OptionRange& range = option.range;
  const std::string low = base::to_text(range.low, 10), high = base::to_text(range.high, 10);
  std::string text;  // grown in steps: GCC 12 warns of sums that begin with one word
  switch (option.kind()) {
    case OptionKind::integer:
      if (range.high >= std::numeric_limits<int>::max()) return "at least " + low;
      text = range.is_even ? "even, in " : "in ";
      text += low + ".." + high;
      break;
    case OptionKind::number:
      if (std::isfinite(range.high)) {
        text = range.includes_low ? "in [" : "in (";
        text += low + ", " + high;
        text += range.includes_high ? "]" : ")";
      } else {
        text = range.includes_low ? "a finite number of at least " : "a finite number above ";
        text += low;
      }
      if (!option.unit.empty()) text += " " + std::string(option.unit);
      break;
    case OptionKind::flag: return "True or False";
    case OptionKind::choice:
      for (const std::string_view name : list_choices(option))
        text += (text.empty() ? "one of " : ", ") + std::string(name);
      break;
  }
  return text;
}

void check_range(const Option& option, const OptionValue& value) {
  const double* number = std::get_if<double>(&value);
  const int* integer = std::get_if<int>(&value);
  if (!number && !integer) return;
  const double tested = number ? *number : *integer;
  if (is_in(option.range, tested)) return;
  throw Error(ErrorCode::kInvalidValue, std::string(option.name),
              "is " + base::to_text(tested, 10) + ", must be " + describe_range(option));
}

bool is_replaced_by_springs(const Option& option, const StepOptions& options) {
  return option.is_replaced_by_springs && contact::has_anchors(options.parameters);
}

bool is_used(const Option& option, const StepOptions& options) {
  if (is_replaced_by_springs(option, options)) return false;
  return !option.is_used || option.is_used(contact::traits(options.contact_model));
}

std::vector<std::string_view> list_models(const Option& option) {
  std::vector<std::string_view> names;
  StepOptions options;
  for (const contact::ContactModelTraits& model : contact::contact_models()) {
    options.contact_model = model.model;
    if (is_used(option, options)) names.push_back(model.name);
  }
  return names;
}

}  // namespace stiction::sim
