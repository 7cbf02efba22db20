#pragma once

#include <cstddef>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace stiction::python {

/// Copies the values to a NumPy array with this number of columns. One column gives a flat array.
template <class T>
nanobind::object make_array(const std::vector<T>& values, std::size_t num_columns) {
  namespace nb = nanobind;
  auto* copy = new std::vector<T>(values);
  const nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t num_rows = copy->size() / num_columns;
  if (num_columns == 1) return nb::cast(nb::ndarray<nb::numpy, T>(copy->data(), {num_rows}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T>(copy->data(), {num_rows, num_columns}, owner));
}

}  // namespace stiction::python
