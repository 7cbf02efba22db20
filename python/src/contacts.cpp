// The reports of contacts and patches. Arrays are views of the report that owns them; their names
// and docstrings come from the table of sim/report/contact_report.hpp.
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "reports.hpp"
#include "stiction/sim/report/contact_report.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using sim::ContactReport;
using sim::PatchReport;
using sim::ReportArray;
using sim::ReportItem;

template <class T>
constexpr const char* kType = std::is_same_v<T, int> ? "int32" : "float64";
template <>
constexpr const char* kType<std::uint8_t> = "bool";

/// Returns the docstring of an array, with its unit and shape.
/// @param count letter for the number of its rows; empty: one item alone
template <class Report, class T>
std::string describe(const ReportArray<Report, T>& array, const std::string& count) {
  std::string text = array.meaning;
  if (*array.unit) text += " [" + std::string(array.unit) + "]";
  if (count.empty() && array.width == 1) return text + ".";
  text += ", ";
  if (!std::is_same_v<T, double>) text += kType<T> + std::string(" ");
  text += "(" + count;
  if (array.starts_of) text += " + 1";
  if (array.width == 1) return text + ",).";
  return text + (count.empty() ? "" : ", ") + std::to_string(array.width) +
         (count.empty() ? ",)." : ").");
}

/// Exposes all arrays of a report. It has n contacts or patches, m faces and k vertices.
template <class Report>
void def_arrays(nb::class_<Report>& c) {
  sim::for_each_array<Report>([&](const auto& array) {
    const char* count = array.item == ReportItem::kFace     ? "m"
                        : array.item == ReportItem::kVertex ? "k"
                                                            : "n";
    def_array(c, array.name, array.member, array.width, describe(array, count).c_str());
  });
}

/// Exposes an array for one item: its number, flag or vector. Pairs of ids are tuples if
/// `has_tuples`.
template <bool has_tuples, class Each, class Report, class T>
void def_value(nb::class_<Each>& c, const ReportArray<Report, T>& array) {
  const std::string doc = describe(array, "");
  const auto first = [array](const Each& each) {
    return (each.report->*array.member).data() + array.width * each.index;
  };
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    c.def_prop_ro(
        array.name, [=](const Each& e) { return *first(e) != 0; }, doc.c_str());
  } else if (array.width == 1) {
    c.def_prop_ro(
        array.name, [=](const Each& e) { return *first(e); }, doc.c_str());
  } else if (has_tuples && std::is_same_v<T, int>) {
    c.def_prop_ro(
        array.name, [=](const Each& e) { return std::pair(first(e)[0], first(e)[1]); },
        doc.c_str());
  } else {
    c.def_prop_ro(
        array.name,
        [array](const Each& e) {
          return view_rows(e.report->*array.member, array.width * e.index, array.width, 1, e.owner);
        },
        nb::rv_policy::reference, doc.c_str());
  }
}

// ---- contacts -----------------------------------------------------------------------------------

struct Contact : Item<ContactReport> {};

/// Returns the mean forces of contacts [first, first + count) as a new array.
std::vector<double> calc_forces(const ContactReport& contacts, int first, int count) {
  const auto begin = contacts.impulse.begin() + 3 * first;
  std::vector<double> force(begin, begin + 3 * count);
  for (double& x : force) x /= contacts.time_step;
  return force;
}

/// Returns one contact, or the contacts of a slice as a list.
nb::object find_contacts(nb::handle self, nb::handle index) {
  const int size = nb::cast<const ContactReport&>(self).size();
  const auto find = [&](Py_ssize_t i) {
    const std::string message = "there is no contact " + std::to_string(i) + "; the step had " +
                                std::to_string(size) + " contacts";
    return nb::cast(find_item<Contact>(self, i, message.c_str()));
  };
  if (nb::isinstance<nb::slice>(index)) {
    nb::list contacts;
    const auto [start, stop, step, length] = nb::borrow<nb::slice>(index).compute(size);
    for (std::size_t k = 0; k < length; ++k)
      contacts.append(find(start + static_cast<Py_ssize_t>(k) * step));
    return contacts;
  }
  const Py_ssize_t i = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
  if (i != -1 || !PyErr_Occurred()) return find(i);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  throw nb::type_error(
      ("contacts take an integer or a slice, not " + std::string(nb::repr(index).c_str()) +
       "; to choose contacts by a mask, apply it to an array, such as contacts.force[mask]")
          .c_str());
}

void bind_contact(nb::module_& m) {
  nb::class_<Contact> c(m, "Contact",
                        "One contact of a step: a row of the arrays of ContactReport.");
  sim::for_each_array<ContactReport>([&](const auto& array) { def_value<true>(c, array); });
  c.def_prop_ro(
      "force", [](const Contact& e) { return make_array(calc_forces(*e.report, e.index, 1)); },
      nb::sig("def force(self) -> numpy.typing.NDArray[numpy.float64]"),
      "Mean force on the second body over the step [N], (3,).");
  def_to_dict(c);
  def_repr(c);
  c.def(
      "__getstate__", [](const Contact& e) { return nb::make_tuple(e.owner, e.index); },
      nb::sig("def __getstate__(self) -> tuple[ContactReport, int]"));
  c.def(
      "__setstate__",
      [](Contact& e, const nb::tuple& state) {
        new (&e) Contact(find_item<Contact>(state[0], nb::cast<int>(state[1]), "no such contact"));
      },
      nb::sig("def __setstate__(self, state: tuple[ContactReport, int]) -> None"));
}

void bind_contact_report(nb::module_& m) {
  nb::class_<ContactReport> c(
      m, "ContactReport",
      "Contacts of a step: read-only arrays with one entry for each of n contacts.\n\n"
      "Impulses act on the second body during the step; `force` is their mean over the step. A "
      "speculative contact that stayed open has a distance above 0 and an impulse of 0. Vectors "
      "are in the world.");
  def_arrays(c);
  c.def_prop_ro(
      "force",
      [](const ContactReport& self) { return make_array(calc_forces(self, 0, self.size()), 3); },
      nb::sig("def force(self) -> numpy.typing.NDArray[numpy.float64]"),
      "Mean force on the second body over the step [N], (n, 3): impulse / time_step, as a new "
      "array.");
  c.def_ro("time_step", &ContactReport::time_step, "Length of the step [s].");
  c.def("__len__", &ContactReport::size, "Number of contacts.");
  // Slices work too. The type names integers alone, because Sphinx reads no overloads.
  c.def("__getitem__", &find_contacts, nb::sig("def __getitem__(self, index: int) -> Contact"),
        nb::arg("index").none(),
        "Returns one contact, with the names of the arrays as attributes, or the contacts of a "
        "slice.");
  c.def("_repr_html_", [](nb::handle self) { return call_view("to_table", self); });
  def_to_dict(c);
  def_repr(c);
  def_pickle(c);
}

// ---- patches ------------------------------------------------------------------------------------

/// A range of rows of an array.
struct Rows {
  std::size_t first, count;
};

struct Patch : Item<PatchReport> {
  Rows faces() const { return make_rows(report->face_start, index, index + 1); }
  Rows vertices() const {
    const auto [first, count] = faces();
    return make_rows(report->vertex_start, first, first + count);
  }
  std::size_t num_faces() const { return faces().count; }
  /// The start of each face in the patch's vertices, and their number at the end.
  std::vector<int> vertex_starts() const {
    const auto begin = report->vertex_start.begin() + static_cast<std::ptrdiff_t>(faces().first);
    std::vector<int> starts(begin, begin + static_cast<std::ptrdiff_t>(num_faces()) + 1);
    const int first = starts.front();
    for (int& start : starts) start -= first;
    return starts;
  }

 private:
  static Rows make_rows(const std::vector<int>& starts, std::size_t begin, std::size_t end) {
    const auto first = static_cast<std::size_t>(starts[begin]);
    return {first, starts[end] - first};
  }
};

/// Exposes an array with one row per face or per vertex.
template <class T>
void def_rows(nb::class_<Patch>& c, const ReportArray<PatchReport, T>& array) {
  const bool is_of_faces = array.item == ReportItem::kFace;
  c.def_prop_ro(
      array.name,
      [=](const Patch& p) {
        const auto [first, count] = is_of_faces ? p.faces() : p.vertices();
        return view_rows(p.report->*array.member, first, count, array.width, p.owner);
      },
      nb::rv_policy::reference, describe(array, is_of_faces ? "n" : "k").c_str());
}

void bind_patch(nb::module_& m) {
  nb::class_<Patch> c(m, "ContactPatch",
                      "A patch of pressure-field contact, as read-only arrays over its n faces and "
                      "their k vertices.\n\nForces and tractions act on the second body and are "
                      "means over the step. Vectors are in the world. Source: [masterjohn2022].");
  sim::for_each_array<PatchReport>([&](const auto& array) {
    if (array.starts_of) return;
    if (array.item == ReportItem::kPatch)
      def_value<false>(c, array);
    else
      def_rows(c, array);
  });
  c.def_prop_ro(
      "faces", [](const Patch& p) { return make_array(p.vertex_starts()); },
      nb::sig("def faces(self) -> numpy.typing.NDArray[numpy.int32]"),
      "Start of each face in `vertices`: the vertices of face i are `vertices[faces[i]:faces[i + "
      "1]]`, int32 (n + 1,).");
  c.def("__len__", &Patch::num_faces, "Number of faces.");
  c.def("__repr__", [](const Patch& p) {
    char text[160];
    const double* f = p.report->force.data() + 3 * p.index;
    std::snprintf(
        text, sizeof text,
        "ContactPatch(geoms=(%d, %d), faces=%zu, area=%.3e m^2, force=(%.3g, %.3g, %.3g) N)",
        p.report->geoms[2 * p.index], p.report->geoms[2 * p.index + 1], p.num_faces(),
        p.report->area[p.index], f[0], f[1], f[2]);
    return std::string(text);
  });
}

void bind_patch_report(nb::module_& m) {
  nb::class_<PatchReport> c(m, "PatchReport",
                            "The patches of a step: a sequence of ContactPatch, and arrays of all "
                            "n patches with their m faces and k vertices.");
  def_pickle(c);
  def_repr(c);
  def_arrays(c);
  c.def("__len__", &PatchReport::size, "Number of patches.")
      .def(
          "__getitem__",
          [](nb::handle self, int index) {
            return find_item<Patch>(self, index, "patch index out of range");
          },
          "index"_a, "Returns a patch; negative indices count from the end.")
      .def_prop_ro("num_faces", &PatchReport::num_faces, "Number of faces of all patches.");
  def_iter<Patch>(c, "def __iter__(self) -> collections.abc.Iterator[ContactPatch]",
                  "Iterates over the patches.");
}

// ---- the tables for Python ----------------------------------------------------------------------

/// Returns the rows of the arrays of a report.
template <class Report>
nb::list list_rows() {
  constexpr const char* kItems[] = {"contact", "patch", "face", "vertex"};
  nb::list rows;
  sim::for_each_array<Report>([&]<class T>(const ReportArray<Report, T>& array) {
    rows.append(nb::make_tuple(array.name, kType<T>, array.width, array.unit, array.meaning,
                               kItems[static_cast<int>(array.item)], array.is_recorded,
                               array.starts_of));
  });
  return rows;
}

}  // namespace

void bind_contacts(nb::module_& m) {
  bind_contact(m);
  bind_contact_report(m);
  bind_patch(m);
  bind_patch_report(m);
  m.def(
      "list_report_arrays", [] { return list_rows<ContactReport>() + list_rows<PatchReport>(); },
      nb::sig("def list_report_arrays() -> list[tuple[str, str, int, str, str, str, bool, str | "
              "None]]"),
      "Lists the arrays of ContactReport and PatchReport; see "
      "stiction.tables.record_table.ReportArray.");
}

}  // namespace stiction::python
