#pragma once

#include <nanobind/nanobind.h>

namespace stiction::python {

/// Returns the members of a report as bytes.
template <class Report>
nanobind::bytes pack_report(const Report& report);
/// Reads the bytes of pack_report.
/// @throws Error if the bytes end early or are too many
template <class Report>
void unpack_report(const nanobind::bytes& bytes, Report* report);

/// Lets Python pickle and copy a report.
template <class Report>
void def_pickle(nanobind::class_<Report>& c) {
  c.def("__getstate__", &pack_report<Report>)
      .def("__setstate__", [](Report& report, const nanobind::bytes& bytes) {
        new (&report) Report();
        unpack_report(bytes, &report);
      });
}

}  // namespace stiction::python
