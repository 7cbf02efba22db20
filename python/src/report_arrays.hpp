#pragma once

#include <cstddef>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace stiction::python {

/// Exposes a member array of a report with `width` numbers per row, as a read-only view that keeps
/// the report alive. A width of 1 gives a flat array.
template <class Report, class T>
void def_array(nanobind::class_<Report>& c, const char* name, std::vector<T> Report::*member,
               std::size_t width, const char* doc) {
  namespace nb = nanobind;
  c.def_prop_ro(
      name,
      [member, width](nb::handle self) {
        using Array = nb::ndarray<nb::numpy, const T, nb::c_contig>;
        const std::vector<T>& values = nb::cast<const Report&>(self).*member;
        const std::size_t count = values.size() / width;
        return width == 1 ? Array(values.data(), {count}, self)
                          : Array(values.data(), {count, width}, self);
      },
      doc);
}

}  // namespace stiction::python
