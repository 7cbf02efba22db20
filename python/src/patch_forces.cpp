#include "stiction/plant/patches/patch_forces.hpp"

#include <string>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "stiction/io/material_assignment.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using plant::PatchForces;

/// Returns the generalized forces as a new NumPy array, (nv,).
auto calc(PatchForces& self, std::uintptr_t data) {
  auto* qfrc = new std::vector<double>(self.model()->nv);
  const nb::capsule owner(qfrc,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  self.calc(data_at(data), qfrc->data());
  return nb::ndarray<nb::numpy, double>(qfrc->data(), {qfrc->size()}, owner);
}

}  // namespace

void bind_patch_forces(nb::module_& m) {
  nb::class_<PatchForces>(m, "PatchForces",
                          "Pressure-field contact in its continuous form; see "
                          "stiction.ContinuousDynamics.")
      .def(
          "__init__",
          [](PatchForces* self, std::uintptr_t model, const std::string& tessellation,
             const std::string& quadrature, const std::string& tilted_faces,
             double stiction_tolerance, const io::ContactProperties& properties,
             nb::handle /*owner*/) {
            new (self)
                PatchForces(model_at(model), io::assign_materials(model_at(model), properties),
                            {.tessellation = contact::parse_tessellation(tessellation),
                             .quadrature = contact::parse_quadrature(quadrature),
                             .tilted_faces = contact::parse_tilted_faces(tilted_faces)},
                            stiction_tolerance);
          },
          "model"_a, "tessellation"_a, "quadrature"_a, "tilted_faces"_a, "stiction_tolerance"_a,
          "properties"_a, "owner"_a, nb::keep_alive<1, 8>(),
          "`owner` is the MjModel at the address `model`; it lives as long as the forces.")
      .def("calc", &calc, "data"_a,
           "Returns the generalized forces of all patches [N, N m], float64 (nv,).")
      .def(
          "calc_acceleration",
          [](PatchForces& self, std::uintptr_t data) { self.calc_acceleration(data_at(data)); },
          "data"_a, "Computes data.qacc with these forces.");
}

}  // namespace stiction::python
