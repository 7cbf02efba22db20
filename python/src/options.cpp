#include "options.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "laws.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/options/option_values.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using sim::Option;
using sim::OptionKind;
using sim::OptionValue;

const char* name_of(OptionKind kind) {
  switch (kind) {
    case OptionKind::number: return "number";
    case OptionKind::integer: return "integer";
    case OptionKind::flag: return "flag";
    case OptionKind::choice: return "choice";
  }
  return "";
}

nb::object to_python(const OptionValue& value) {
  return std::visit(
      []<class T>(const T& v) -> nb::object {
        if constexpr (std::is_same_v<T, std::monostate>)
          return nb::none();
        else
          return nb::cast(v);
      },
      value);
}

/// Converts a Python object of the option's type to a value. A name in the value points into the
/// object.
/// @throws Error of kWrongShape if the object has another type
OptionValue from_python(const Option& option, nb::handle value) {
  const auto cast = [&]<class T>(T empty) -> OptionValue {
    T out = empty;
    if (nb::try_cast(value, out, false)) return out;
    throw Error(
        ErrorCode::kWrongShape, std::string(option.name),
        "is " + std::string(nb::repr(value).c_str()) + ", must be " + sim::describe_range(option));
  };
  if (option.is_optional() && value.is_none()) return {};
  switch (option.kind()) {
    case OptionKind::number: return cast(0.0);
    case OptionKind::integer: return cast(0);
    case OptionKind::flag: return cast(false);
    case OptionKind::choice: return cast(std::string_view());
  }
  return {};
}

/// Returns a row of the table as the keyword arguments of stiction.setup.options.Option.
nb::dict describe(const Option& option) {
  nb::dict row;
  row["name"] = option.name;
  row["kind"] = name_of(option.kind());
  row["is_optional"] = option.is_optional();
  row["default"] = to_python(sim::get_default(option));
  row["unit"] = option.unit;
  row["range"] = sim::describe_range(option);
  row["choices"] = sim::list_choices(option);
  row["contact_models"] = sim::list_models(option);
  row["help"] = option.help;
  return row;
}

nb::list list_options() {
  nb::list rows;
  for (const Option& option : sim::option_table()) rows.append(describe(option));
  return rows;
}

/// @throws Error of kInvalidValue if the value is outside the range of the option
void check_option(std::string_view name, nb::handle value) {
  const Option& option = sim::find_option(name);
  sim::check_range(option, from_python(option, value));
}

/// Sets a law that is given as a table.
/// @return false if the option is no law
bool set_law(std::string_view name, nb::handle content, sim::StepOptions* options) {
  if (name == "normal_law")
    contact::set_law(make_normal_law_table(content), &options->parameters);
  else if (name == "friction_law")
    contact::set_law(make_friction_law_table(content), &options->parameters);
  else
    return false;
  return true;
}

}  // namespace

sim::StepOptions make_step_options(const nb::dict& given) {
  sim::StepOptions options;
  for (const auto& [name, value] : given) {
    const Option& option = sim::find_option(nb::cast<std::string_view>(name));
    if (nb::isinstance<nb::dict>(value) && set_law(option.name, value, &options)) continue;
    sim::set_value(option, from_python(option, value), &options);
  }
  return options;
}

sim::StepOptions make_step_options(const nb::dict& given, const io::ContactProperties& properties) {
  sim::StepOptions options = make_step_options(given);
  io::apply_laws(properties, &options);
  return options;
}

nb::dict make_dict(const sim::StepOptions& options) {
  nb::dict values;
  for (const Option& option : sim::option_table())
    values[nb::cast(option.name)] = to_python(sim::get_value(option, options));
  const contact::ModelParameters& parameters = options.parameters;
  if (parameters.normal_law == contact::NormalLawKind::custom && parameters.custom_law->table())
    values["normal_law"] = make_dict(*parameters.custom_law->table());
  if (parameters.friction_law == contact::FrictionRegularizationKind::custom)
    values["friction_law"] = make_dict(parameters.custom_friction->table());
  return values;
}

void bind_options(nb::module_& m) {
  m.def("list_options", &list_options, nb::sig("def list_options() -> list[dict[str, typing.Any]]"),
        "Lists the options of a step, a dict for each; see stiction.setup.options.Option.");
  m.def("check_option", &check_option, nb::arg("name"), nb::arg("value"),
        "Raises an Error if a value of an option has the wrong type or is outside its range.");
}

}  // namespace stiction::python
