// Contact surfaces at given poses and their forces in continuous time, without a step.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "step_turn.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/plant/patches/patch_forces.hpp"
#include "stiction/sim/report/report_writer.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using io::ContactProperties;
using plant::PatchForces;

/// Computes the contact surfaces of a model's geoms; see stiction.ContactSurfaces.
class Surfaces {
 public:
  Surfaces(std::uintptr_t model, const ContactProperties& properties,
           const std::string& tessellation, const std::string& tilted_faces)
      : model_(model_at(model)),
        patches_(model_, io::assign_materials(model_, properties),
                 {.tessellation = contact::parse_tessellation(tessellation),
                  .tilted_faces = contact::parse_tilted_faces(tilted_faces),
                  .deep_patches = contact::DeepPatches::field}) {}
  Surfaces(const Surfaces&) = delete;
  Surfaces& operator=(const Surfaces&) = delete;

  /// Computes the surfaces `num_times`, and shifts the geoms to and fro by `drift` [m] in between.
  sim::PatchReport calc(std::uintptr_t data_address, int num_times, double drift) {
    mjData* data = data_at(data_address);
    gate_.check_fork();
    {
      const nb::gil_scoped_release release;
      const StepTurn turn(&gate_, "calc");
      patches_.follow_model(model_);
      for (int i = 0; i < num_times; ++i) {
        if (drift > 0) move(data, i % 2 == 0 ? drift : -drift);
        patches_.calc_surfaces(model_, data);
      }
      patches_.find_deep(data);
      if (drift > 0 && num_times % 2 == 1) move(data, -drift);
    }
    sim::PatchReport report;
    sim::write_surfaces(model_, patches_, &report);
    return report;
  }

  /// Returns the vertices [m], the tets and the pressures [Pa] of a geom's field; None if the geom
  /// has no field over tets.
  nb::object copy_field(int geom) const {
    const auto& body = patches_.body(geom).body;
    const auto* compliant = body ? std::get_if<geometry::CompliantBody>(&*body) : nullptr;
    if (!compliant) return nb::none();
    const geometry::PressureField& field = compliant->field();
    std::vector<double> vertices;
    for (const math::Vec3& x : field.mesh.vertices)
      vertices.insert(vertices.end(), {x.x, x.y, x.z});
    std::vector<int> tets;
    for (const auto& tet : field.mesh.tets) tets.insert(tets.end(), tet.begin(), tet.end());
    return nb::make_tuple(make_array(vertices, 3), make_array(tets, 4),
                          make_array(field.pressure, 1));
  }

  /// Returns true if the geom takes part in pressure-field contact.
  bool has_body(int geom) const { return patches_.body(geom).body.has_value(); }

 private:
  /// Shifts each geom that is not fixed to the world in its own direction. Without a shift the
  /// relative poses would be the same, and a repeated query would cost almost nothing.
  void move(mjData* data, double shift) const {
    for (int geom = 0; geom < model_->ngeom; ++geom) {
      if (model_->body_weldid[model_->geom_bodyid[geom]] == 0) continue;
      data->geom_xpos[3 * geom] += shift * math::cos(geom);
      data->geom_xpos[3 * geom + 1] += shift * math::sin(geom);
    }
  }

  StepGate gate_;
  const mjModel* model_;
  plant::ContactPatches patches_;
};

void bind_contact_surfaces(nb::module_& m) {
  nb::class_<Surfaces>(m, "Surfaces", "Computes contact surfaces; see stiction.ContactSurfaces.")
      .def(
          "__init__",
          [](Surfaces* self, std::uintptr_t model, const ContactProperties& properties,
             const std::string& tessellation, const std::string& tilted_faces,
             nb::handle /*owner*/) {
            new (self) Surfaces(model, properties, tessellation, tilted_faces);
          },
          "model"_a, "properties"_a, "tessellation"_a, "tilted_faces"_a, "owner"_a,
          nb::keep_alive<1, 6>(),
          "`owner` is the MjModel at the address `model`; it lives as long as the surfaces.")
      .def("calc", &Surfaces::calc, "data"_a, "num_times"_a, "drift"_a,
           "Returns the patches at the poses of `data`.")
      .def("copy_field", &Surfaces::copy_field, "geom"_a,
           nb::sig("def copy_field(self, geom: int) -> tuple[numpy.ndarray, numpy.ndarray, "
                   "numpy.ndarray] | None"),
           "Returns the vertices [m], the tets and the pressures [Pa] of a geom's field in the "
           "geom's frame; None if it has no field over tets.")
      .def("has_body", &Surfaces::has_body, "geom"_a,
           "Returns true if the geom takes part in pressure-field contact.");
}

/// Returns the generalized forces as a new NumPy array, (nv,).
nb::object calc_forces(PatchForces& self, std::uintptr_t data) {
  std::vector<double> qfrc(self.model()->nv);
  self.calc(data_at(data), qfrc.data());
  return make_array(std::move(qfrc));
}

void bind_patch_forces(nb::module_& m) {
  nb::class_<PatchForces>(
      m, "PatchForces",
      "Pressure-field contact in its continuous form; see stiction.ContinuousDynamics.")
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
      .def("calc", &calc_forces, "data"_a,
           nb::sig("def calc(self, data: int) -> numpy.typing.NDArray[numpy.float64]"),
           "Returns the generalized forces of all patches [N, N m], float64 (nv,).")
      .def(
          "calc_acceleration",
          [](PatchForces& self, std::uintptr_t data) { self.calc_acceleration(data_at(data)); },
          "data"_a, "Computes data.qacc with these forces.");
}

}  // namespace

void bind_surfaces(nb::module_& m) {
  bind_contact_surfaces(m);
  bind_patch_forces(m);
}

}  // namespace stiction::python
