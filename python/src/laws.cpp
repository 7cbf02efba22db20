// Laws of tables: stiction.NormalLaw and stiction.FrictionLaw.
#include "laws.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "stiction/base/error.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using contact::FrictionLawTable;
using contact::NormalLawTable;
using Numbers = std::vector<double>;

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

void bind_laws(nb::module_& m) {
  m.def(
      "calc_normal_law", &calc_normal_law, "content"_a, "x"_a, "xdot"_a,
      nb::sig(
          "def calc_normal_law(content: dict[str, typing.Any], x: collections.abc.Sequence[float], "
          "xdot: collections.abc.Sequence[float]) -> tuple[list[float], list[float], "
          "list[float]]"),
      "Returns the force of a normal law and its two derivatives at each point.");
  m.def("calc_friction_law", &calc_friction_law, "content"_a, "slip"_a,
        nb::sig("def calc_friction_law(content: dict[str, typing.Any], slip: "
                "collections.abc.Sequence[float]) -> list[float]"),
        "Returns the share of Coulomb's friction at each slip.");
  m.def("calc_spline", &calc_spline, "name"_a, "x"_a, "y"_a, "at"_a,
        "Interpolates a table with the cubics of laws; `name` is that of the values in messages.");
}

}  // namespace stiction::python
