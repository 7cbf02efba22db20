#include <string>
#include <string_view>

#include <nanobind/stl/string_view.h>

#include "bindings.hpp"
#include "stiction/contact/contact_model.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using contact::ContactModelTraits;

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<ContactModelTraits>(m, "ContactModelTraits",
                                 "What a contact model is, what it reads and what it takes.")
      .def_ro("name", &ContactModelTraits::name)
      .def_ro("colour", &ContactModelTraits::colour,
              "The model's colour in plots, '#rrggbb'; empty if it has none.")
      .def_ro("has_error_bound", &ContactModelTraits::has_error_bound,
              "True if the model is a convex problem, so that a certificate bounds the error.")
      .def_ro("is_rigid", &ContactModelTraits::is_rigid, "True if surfaces do not give way.")
      .def_ro("is_mj_step", &ContactModelTraits::is_mj_step,
              "True if MuJoCo's mj_step makes the step, which is not certified.")
      .def_ro("takes_laws", &ContactModelTraits::takes_laws,
              "True if the model takes normal_law and friction_law.")
      .def_ro("takes_patches", &ContactModelTraits::takes_patches,
              "True if the model takes pressure-field contact.")
      .def_ro("lifts_sliding", &ContactModelTraits::lifts_sliding,
              "True if friction lifts a body that slides.")
      .def_ro("acts_ahead", &ContactModelTraits::acts_ahead,
              "True if contacts act earlier by their relaxation time.")
      .def_ro("has_smooth_forces", &ContactModelTraits::has_smooth_forces,
              "True if forces are smooth functions of the state between impacts.")
      .def_ro("uses_friction", &ContactModelTraits::uses_friction,
              "True if the model reads sliding friction coefficients.")
      .def_prop_ro(
          "has_viscous_friction",
          [](const ContactModelTraits& model) {
            return model.tangents == contact::TangentPolicy::kViscous;
          },
          "True if a rigid model's friction is viscous.")
      .def_ro("uses_stiction_tolerance", &ContactModelTraits::uses_stiction_tolerance)
      .def_ro("uses_friction_regularization", &ContactModelTraits::uses_friction_regularization);
  m.def(
      "contact_model_traits",
      [](std::string_view name) { return contact::traits(contact::parse_contact_model(name)); },
      "name"_a, "Returns the row of a contact model in the table of models.");
}

}  // namespace stiction::python
