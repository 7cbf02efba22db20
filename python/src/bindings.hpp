#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

/// The Python bindings of stiction_sim, one file per subject. MuJoCo's Python models and data are
/// passed as addresses.
namespace stiction::python {

namespace nb = nanobind;

inline mjModel* model_at(std::uintptr_t address) { return reinterpret_cast<mjModel*>(address); }
inline mjData* data_at(std::uintptr_t address) { return reinterpret_cast<mjData*>(address); }

/// Moves values to a new NumPy array with this number of columns. One column gives a flat array.
template <class T>
nb::object make_array(std::vector<T> values, std::size_t num_columns = 1) {
  auto* owned = new std::vector<T>(std::move(values));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t num_rows = owned->size() / num_columns;
  using Array = nb::ndarray<nb::numpy, T>;
  return nb::cast(num_columns == 1 ? Array(owned->data(), {num_rows}, owner)
                                   : Array(owned->data(), {num_rows, num_columns}, owner));
}

void bind_batch(nb::module_& m);
void bind_contacts(nb::module_& m);
void bind_inputs(nb::module_& m);
void bind_meshes(nb::module_& m);
void bind_models(nb::module_& m);
void bind_mujoco_layout(nb::module_& m);
void bind_options(nb::module_& m);
void bind_reports(nb::module_& m);
void bind_solvers(nb::module_& m);
void bind_stepper(nb::module_& m);
void bind_surfaces(nb::module_& m);
void bind_taxels(nb::module_& m);

}  // namespace stiction::python
