// Readings of taxels. Arrays are views of the report that owns them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "reports.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using sim::TaxelReport;

/// The taxels of one sensor of a report.
struct Taxels : Item<TaxelReport> {
  std::size_t first() const { return report->start[index]; }
  std::size_t size() const { return report->start[index + 1] - report->start[index]; }
};

/// Exposes an array with one row per taxel of a sensor.
void def_rows(nb::class_<Taxels>& c, const char* name, std::vector<double> TaxelReport::*member,
              std::size_t width, const char* doc) {
  c.def_prop_ro(
      name,
      [=](const Taxels& t) {
        return view_rows(t.report->*member, t.first(), t.size(), width, t.owner);
      },
      nb::rv_policy::reference, doc);
}

/// Returns the positions of a sensor's taxels as a new array, (n, 3).
nb::object calc_positions(const Taxels& t) {
  std::vector<double> positions;
  for (std::size_t i = t.first(); i < t.first() + t.size(); ++i) {
    const math::Vec3 x = t.report->position(t.index, static_cast<int>(i));
    positions.insert(positions.end(), {x.x, x.y, x.z});
  }
  return make_array(std::move(positions), 3);
}

constexpr const char* kTraction =
    "Pressure, above 0 if the taxel is pressed, and the two shears, in the frame of the taxel "
    "[Pa], (n, 3).";

void bind_sensor(nb::module_& m) {
  nb::class_<Taxels> c(m, "Taxels",
                       "What the n taxels of one sensor read in a step, as read-only arrays.\n\n"
                       "Forces act on the body of the sensor and are means over the step.");
  c.def_prop_ro(
      "name", [](const Taxels& t) { return t.report->names[t.index]; }, "Name of the sensor.");
  c.def_prop_ro(
      "shape",
      [](const Taxels& t) {
        const int* shape = t.report->shape.data() + 2 * t.index;
        return std::pair(shape[0], shape[1]);
      },
      "Number of taxels along the two axes of a grid; (n, 1) for a mesh. `traction[:, "
      "0].reshape(shape)` is the image of the pressure.");
  c.def_prop_ro("position", &calc_positions,
                nb::sig("def position(self) -> numpy.typing.NDArray[numpy.float64]"),
                "Positions in the world at the start of the step [m], (n, 3), as a new array.");
  def_rows(c, "area", &TaxelReport::area, 1, "Areas [m^2], (n,).");
  def_rows(c, "traction", &TaxelReport::traction, 3, kTraction);
  def_rows(c, "force", &TaxelReport::force, 3, "Forces in the world [N], (n, 3).");
  def_rows(c, "torque", &TaxelReport::torque, 3,
           "Torques about the positions, in the world [N m], (n, 3).");
  c.def("__len__", &Taxels::size, "Number of taxels.");
  c.def("__repr__", [](const Taxels& t) {
    return "Taxels('" + t.report->names[t.index] + "', " + std::to_string(t.size()) + ")";
  });
}

/// Returns the taxels of a sensor by its name, or by its place in the report.
Taxels find_sensor(nb::handle self, nb::handle key) {
  int index = 0;
  if (nb::isinstance<nb::str>(key)) {
    const auto& names = nb::cast<const TaxelReport&>(self).names;
    const std::string name = nb::cast<std::string>(key);
    index = static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
    if (index == static_cast<int>(names.size()))
      throw Error(ErrorCode::kUnknownName, "taxels",
                  "no sensor has the name '" + name + "'" + suggest_name(name, names));
  } else if (!nb::try_cast(key, index)) {
    throw Error(ErrorCode::kWrongShape, "taxels",
                "the key is " + std::string(nb::repr(key).c_str()) +
                    ", must be the name of a sensor or an integer");
  }
  return find_item<Taxels>(self, index, "index of a sensor out of range");
}

}  // namespace

void bind_taxels(nb::module_& m) {
  bind_sensor(m);
  using R = TaxelReport;
  nb::class_<R> c(m, "TaxelReport",
                  "What the taxels of all sensors read in a step: a mapping from names of sensors "
                  "to Taxels, and arrays of all n taxels.");
  def_pickle(c);
  def_repr(c);
  c.def_prop_ro(
      "names", [](const R& r) { return r.names; }, "Names of the sensors.");
  def_array(c, "start", &R::start, 1,
            "The taxels of sensor i are [start[i], start[i + 1]), int32 (number of sensors + 1,).");
  def_array(c, "area", &R::area, 1, "Areas [m^2], (n,).");
  def_array(c, "traction", &R::traction, 3, kTraction);
  def_array(c, "force", &R::force, 3, "Forces on the sensor's body, in the world [N], (n, 3).");
  def_array(c, "torque", &R::torque, 3, "Torques about the positions, in the world [N m], (n, 3).");
  c.def("__len__", &R::size, "Number of sensors.");
  c.def("__getitem__", &find_sensor, nb::arg("key").none(),
        nb::sig("def __getitem__(self, key: str | int) -> Taxels"),
        "Returns the taxels of a sensor, by its name or its place.\n\n"
        "Raises:\n    Error: no sensor has this name.");
  def_iter<Taxels>(c, "def __iter__(self) -> collections.abc.Iterator[Taxels]",
                   "Iterates over the sensors.");
}

}  // namespace stiction::python
