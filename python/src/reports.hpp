#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bindings.hpp"

/// Bindings that reports have in common.
namespace stiction::python {

/// Returns the members of a report as bytes.
template <class Report>
nb::bytes pack_report(const Report& report);
/// Reads the bytes of pack_report.
/// @throws Error if the bytes end early or are too many
template <class Report>
void unpack_report(const nb::bytes& bytes, Report* report);

/// Lets Python pickle and copy a report.
template <class Report>
void def_pickle(nb::class_<Report>& c) {
  c.def("__getstate__", &pack_report<Report>)
      .def("__setstate__", [](Report& report, const nb::bytes& bytes) {
        new (&report) Report();
        unpack_report(bytes, &report);
      });
}

/// Calls a function of stiction.tables.report_views.
template <class... Arguments>
nb::object call_view(const char* function, Arguments&&... arguments) {
  return nb::module_::import_("stiction.tables.report_views").attr(function)(arguments...);
}

/// Lets Python convert a report to plain values.
template <class Report>
void def_to_dict(nb::class_<Report>& c) {
  c.def(
      "to_dict", [](nb::handle self) { return call_view("to_dict", self); },
      nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
      "Returns the attributes as dicts, lists, numbers and strings, for a log or JSON.");
}

/// Lets Python print a report, or a part of one.
template <class Report>
void def_repr(nb::class_<Report>& c) {
  c.def(
      "__repr__", [](nb::handle self) { return call_view("describe", self); },
      nb::sig("def __repr__(self) -> str"));
}

/// Returns the rows [first, first + count) of an array with `width` numbers per row, as a read-only
/// view that keeps the owner alive. A width of 1 gives a flat array. Bytes are flags.
template <class T>
auto view_rows(const std::vector<T>& values, std::size_t first, std::size_t count,
               std::size_t width, nb::handle owner) {
  using Number = std::conditional_t<std::is_same_v<T, std::uint8_t>, bool, T>;
  static_assert(sizeof(Number) == sizeof(T));
  using View = nb::ndarray<nb::numpy, const Number, nb::c_contig>;
  const auto* data = reinterpret_cast<const Number*>(values.data()) + first * width;
  return width == 1 ? View(data, {count}, owner) : View(data, {count, width}, owner);
}

/// Exposes a member array of a report with `width` numbers per row, see view_rows.
template <class Report, class T>
void def_array(nb::class_<Report>& c, const char* name, std::vector<T> Report::*member,
               std::size_t width, const char* doc) {
  c.def_prop_ro(
      name,
      [member, width](nb::handle self) {
        const std::vector<T>& values = nb::cast<const Report&>(self).*member;
        return view_rows(values, 0, values.size() / width, width, self);
      },
      doc);
}

/// One item of a report, such as a patch.
template <class Report>
struct Item {
  nb::object owner;  // the report
  const Report* report;
  int index;
};

/// Returns an item of a report, where negative indices count from the end; IndexError: there is
/// none.
template <class Each>
Each find_item(nb::handle self, Py_ssize_t index, const char* message) {
  const auto* report = nb::cast<decltype(Each::report)>(self);
  const Py_ssize_t i = index < 0 ? index + report->size() : index;
  if (i < 0 || i >= report->size()) throw nb::index_error(message);
  return Each{{nb::borrow(self), report, static_cast<int>(i)}};
}

/// Lets Python iterate over the items of a report.
template <class Each, class Report>
void def_iter(nb::class_<Report>& c, const char* signature, const char* doc) {
  c.def(
      "__iter__",
      [](nb::handle self) {
        const auto& report = nb::cast<const Report&>(self);
        nb::list items;
        for (int i = 0; i < report.size(); ++i) items.append(Each{{nb::borrow(self), &report, i}});
        return nb::iter(items);
      },
      nb::sig(signature), doc);
}

}  // namespace stiction::python
