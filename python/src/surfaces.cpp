// Contact surfaces without a step.
#include <string>

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "stiction/io/material_assignment.hpp"
#include "stiction/plant/contact_patches.hpp"
#include "stiction/sim/patch_writer.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using io::ContactProperties;

class Surfaces {
 public:
  Surfaces(std::uintptr_t model, const ContactProperties& properties,
           const std::string& tessellation)
      : model_(model_at(model)),
        patches_(model_, io::assign_materials(model_, properties),
                 {.tessellation = contact::parse_tessellation(tessellation)}) {}
  Surfaces(const Surfaces&) = delete;
  Surfaces& operator=(const Surfaces&) = delete;

  sim::PatchReport calc(std::uintptr_t data_address, int num_times) {
    const mjData* data = data_at(data_address);
    {
      const nb::gil_scoped_release release;
      for (int i = 0; i < num_times; ++i) patches_.calc_surfaces(model_, data);
    }
    sim::PatchReport report;
    sim::write_surfaces(model_, patches_, &report);
    return report;
  }

 private:
  const mjModel* model_;
  plant::ContactPatches patches_;
};

}  // namespace

void bind_surfaces(nb::module_& m) {
  nb::class_<Surfaces>(m, "Surfaces", "See stiction.ContactSurfaces.")
      .def(nb::init<std::uintptr_t, const ContactProperties&, const std::string&>(), "model"_a,
           "properties"_a, "tessellation"_a)
      .def("calc", &Surfaces::calc, "data"_a, "num_times"_a);
}

}  // namespace stiction::python
