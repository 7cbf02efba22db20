#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace stiction::python {

/// Returns the rows [first, first + count) of an array with `width` numbers per row, as a read-only
/// view that keeps the owner alive. A width of 1 gives a flat array.
template <class T>
auto view_rows(const std::vector<T>& values, std::size_t first, std::size_t count,
               std::size_t width, nanobind::handle owner) {
  namespace nb = nanobind;
  using Array = nb::ndarray<nb::numpy, const T, nb::c_contig>;
  const T* data = values.data() + first * width;
  return width == 1 ? Array(data, {count}, owner) : Array(data, {count, width}, owner);
}

/// Exposes a member array of a report with `width` numbers per row, see view_rows.
template <class Report, class T>
void def_array(nanobind::class_<Report>& c, const char* name, std::vector<T> Report::*member,
               std::size_t width, const char* doc) {
  c.def_prop_ro(
      name,
      [member, width](nanobind::handle self) {
        const std::vector<T>& values = nanobind::cast<const Report&>(self).*member;
        return view_rows(values, 0, values.size() / width, width, self);
      },
      doc);
}

/// Returns the flags [first, first + count) as a read-only bool view that keeps the owner alive.
inline auto view_flags(const std::vector<std::uint8_t>& flags, std::size_t first, std::size_t count,
                       nanobind::handle owner) {
  namespace nb = nanobind;
  static_assert(sizeof(bool) == sizeof(std::uint8_t));
  return nb::ndarray<nb::numpy, const bool, nb::c_contig>(
      reinterpret_cast<const bool*>(flags.data() + first), {count}, owner);
}

/// Exposes a member array of flags, one per row, see view_flags.
template <class Report>
void def_flags(nanobind::class_<Report>& c, const char* name,
               std::vector<std::uint8_t> Report::*member, const char* doc) {
  c.def_prop_ro(
      name,
      [member](nanobind::handle self) {
        const std::vector<std::uint8_t>& flags = nanobind::cast<const Report&>(self).*member;
        return view_flags(flags, 0, flags.size(), self);
      },
      doc);
}

}  // namespace stiction::python
