#pragma once

#include <cstdint>

#include <mujoco/mujoco.h>
#include <nanobind/nanobind.h>

/// The Python bindings of stiction_sim, one file per subject. MuJoCo's Python models and data are
/// passed as addresses.
namespace stiction::python {

namespace nb = nanobind;

inline mjModel* model_at(std::uintptr_t address) { return reinterpret_cast<mjModel*>(address); }
inline mjData* data_at(std::uintptr_t address) { return reinterpret_cast<mjData*>(address); }

void bind_advance_report(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_cones(nb::module_& m);
void bind_errors();
void bind_laws(nb::module_& m);
void bind_lcp(nb::module_& m);
void bind_meshes(nb::module_& m);
void bind_models(nb::module_& m);
void bind_mujoco_constants(nb::module_& m);
void bind_mujoco_layout(nb::module_& m);
void bind_options(nb::module_& m);
void bind_patch_forces(nb::module_& m);
void bind_patches(nb::module_& m);
void bind_reports(nb::module_& m);
void bind_properties(nb::module_& m);
void bind_scenes(nb::module_& m);
void bind_stepper(nb::module_& m);
void bind_surfaces(nb::module_& m);
void bind_taxels(nb::module_& m);
void bind_trace(nb::module_& m);
void bind_yaml(nb::module_& m);

}  // namespace stiction::python
