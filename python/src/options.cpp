// Options of a step, and laws of tables: stiction.NormalLaw and stiction.FrictionLaw.
#include "options.hpp"

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "stiction/base/error.hpp"
#include "stiction/sim/options/option_values.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using contact::FrictionLawTable;
using contact::NormalLawTable;
using Numbers = std::vector<double>;

using sim::Option;
using sim::OptionKind;
using sim::OptionValue;

// ---- laws ---------------------------------------------------------------------------------------

/// Reads an entry of a dict; `empty` if there is none.
template <class T>
T read(const nb::dict& content, const char* name, T empty) {
  if (!content.contains(name)) return empty;
  T out = std::move(empty);
  const nb::object value = content[name];
  if (!nb::try_cast(value, out))
    throw Error(ErrorCode::kWrongShape, name,
                "is " + std::string(nb::repr(value).c_str()) + ", must be of numbers");
  return out;
}

nb::dict as_dict(nb::handle content) {
  nb::dict out;
  if (!nb::try_cast(content, out))
    throw Error(ErrorCode::kWrongShape, "law", "is no dict of the content of a law");
  return out;
}

std::tuple<Numbers, Numbers, Numbers> calc_normal_law(const nb::dict& content, const Numbers& x,
                                                      const Numbers& xdot) {
  const contact::TabulatedLaw law(make_normal_law_table(content));
  Numbers f, df_dx, df_dxdot;
  for (std::size_t i = 0; i < std::min(x.size(), xdot.size()); ++i) {
    const contact::NormalForce at = law.calc_force(x[i], xdot[i]);
    f.push_back(at.f);
    df_dx.push_back(at.df_dx);
    df_dxdot.push_back(at.df_dxdot);
  }
  return {f, df_dx, df_dxdot};
}

Numbers calc_friction_law(const nb::dict& content, const Numbers& slip) {
  const contact::TabulatedFriction law(make_friction_law_table(content));
  Numbers f;
  for (const double s : slip) {
    if (!(s >= 0))
      throw Error(ErrorCode::kInvalidValue, "slip",
                  "is " + base::to_text(s) + ", must be at least 0");
    f.push_back(law.calc(s).f_over_s * s);
  }
  return f;
}

Numbers calc_spline(const std::string& name, const Numbers& x, const Numbers& y,
                    const Numbers& at) {
  const contact::MonotoneSpline spline(x, y, {"points of " + name, name});
  Numbers values;
  for (const double point : at) values.push_back(spline.calc(point).value);
  return values;
}

// ---- options ------------------------------------------------------------------------------------

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

NormalLawTable make_normal_law_table(nb::handle content) {
  const nb::dict d = as_dict(content);
  return {.penetration = read(d, "penetration", Numbers()),
          .force = read(d, "force", Numbers()),
          .dissipation = read(d, "dissipation", 0.0),
          .rate = read(d, "rate", Numbers()),
          .factor = read(d, "factor", Numbers())};
}

FrictionLawTable make_friction_law_table(nb::handle content) {
  const nb::dict d = as_dict(content);
  return {.slip = read(d, "slip", Numbers()), .friction = read(d, "friction", Numbers())};
}

nb::dict make_dict(const NormalLawTable& table) {
  nb::dict out;
  out["force"] = nb::cast(table.force);
  out["penetration"] = nb::cast(table.penetration);
  if (table.factor.empty()) {
    out["dissipation"] = table.dissipation;
  } else {
    out["factor"] = nb::cast(table.factor);
    out["rate"] = nb::cast(table.rate);
  }
  return out;
}

nb::dict make_dict(const FrictionLawTable& table) {
  nb::dict out;
  out["friction"] = nb::cast(table.friction);
  out["slip"] = nb::cast(table.slip);
  return out;
}

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
  m.def(
      "calc_normal_law", &calc_normal_law, "content"_a, "x"_a, "xdot"_a,
      nb::sig(
          "def calc_normal_law(content: dict[str, typing.Any], x: collections.abc.Sequence[float], "
          "xdot: collections.abc.Sequence[float]) -> tuple[list[float], list[float], list[float]]"),
      "Returns the force of a normal law and its two derivatives at each point.");
  m.def("calc_friction_law", &calc_friction_law, "content"_a, "slip"_a,
        nb::sig("def calc_friction_law(content: dict[str, typing.Any], slip: "
                "collections.abc.Sequence[float]) -> list[float]"),
        "Returns the share of Coulomb's friction at each slip.");
  m.def("calc_spline", &calc_spline, "name"_a, "x"_a, "y"_a, "at"_a,
        "Interpolates a table with the cubics of laws; `name` is that of the values in messages.");
}

}  // namespace stiction::python
